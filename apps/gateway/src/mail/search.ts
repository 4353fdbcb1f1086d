import type { Route } from '../http';
import type { MailClients } from './mail-clients';

export function searchRoutes(_clients: MailClients): Route[] {
  return [];
}
