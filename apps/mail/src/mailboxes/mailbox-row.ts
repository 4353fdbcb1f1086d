import type { MailboxRecord, MailboxSettings } from '@dak/contracts/api';
import { tableColumns } from '@dak/platform/postgres';

/** A row of `mailbox`; times are RFC 3339 UTC. */
export interface MailboxRow {
  id: string;
  address: string;
  display_name: string | null;
  kind: MailboxRecord['kind'];
  status: MailboxRecord['status'];
  domain_id: string | null;
  default_signature_id: string | null;
  policy_id: string | null;
  agent_mode: MailboxRecord['agent_mode'];
  settings: MailboxSettings;
  metadata: MailboxRecord['metadata'];
  client_id: string | null;
  version: number;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

export const MAILBOX = tableColumns<MailboxRow>('mailbox', {
  id: 'fixed',
  address: 'fixed',
  display_name: 'changes',
  kind: 'fixed',
  status: 'changes',
  domain_id: 'changes',
  default_signature_id: 'changes',
  policy_id: 'changes',
  agent_mode: 'changes',
  settings: 'changes',
  metadata: 'changes',
  client_id: 'fixed',
  version: 'changes',
  created_at: 'fixed',
  updated_at: 'changes',
  deleted_at: 'changes',
});

/** For `from mailbox m`. */
export const MAILBOX_COLUMNS = MAILBOX.list('m');
