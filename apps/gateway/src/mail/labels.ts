import type { Route } from '../http';
import type { MailClients } from './mail-clients';

export function labelRoutes(_clients: MailClients): Route[] {
  return [];
}
