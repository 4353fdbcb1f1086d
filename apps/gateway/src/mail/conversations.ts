import type { Route } from '../http';
import type { MailClients } from './mail-clients';
import type { MailDirectory } from './mail-directory';

export function conversationRoutes(_clients: MailClients, _directory: MailDirectory): Route[] {
  return [];
}
