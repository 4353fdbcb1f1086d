import type { Route } from '../http';
import type { MailClients } from './mail-clients';

export function messageRoutes(_clients: MailClients): Route[] {
  return [];
}
