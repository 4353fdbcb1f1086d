import type { MailboxRecord, MailboxSettings } from '@dak/contracts/api';

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

/** For `from mailbox m`. */
export const MAILBOX_COLUMNS = `m.id, m.address, m.display_name, m.kind, m.status, m.domain_id, m.default_signature_id,
  m.policy_id, m.agent_mode, m.settings, m.metadata, m.client_id, m.version, m.created_at, m.updated_at, m.deleted_at`;
