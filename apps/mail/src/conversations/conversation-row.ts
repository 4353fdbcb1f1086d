import type { ConversationRecord } from '@dak/contracts/api';

export type ConversationStatus = ConversationRecord['status'];
export type Disposition = ConversationRecord['disposition'];
export type Priority = ConversationRecord['priority'];
export type Participant = ConversationRecord['participants'][number];

/** A row of `conversation`; times are RFC 3339 UTC with milliseconds. */
export interface ConversationRow {
  id: string;
  mailbox_id: string;
  number: number;
  subject: string;
  base_subject: string;
  preview: string;
  status: ConversationStatus;
  disposition: Disposition;
  priority: Priority;
  department_id: string | null;
  assignee_type: 'user' | 'agent' | null;
  assignee_id: string | null;
  assignee_name: string | null;
  labels: string[];
  system_labels: string[];
  participants: Participant[];
  snoozed_until: string | null;
  snooze_wake_on_reply: boolean;
  status_before_snooze: ConversationStatus | null;
  message_count: number;
  unread_count: number;
  attachment_count: number;
  size_bytes: number;
  last_message_id: string | null;
  last_message_at: string;
  last_inbound_at: string | null;
  last_outbound_at: string | null;
  first_response_at: string | null;
  waiting_since: string | null;
  open_draft_id: string | null;
  open_approval_id: string | null;
  scheduled_count: number;
  trust: ConversationRecord['trust'];
  merged_into_id: string | null;
  linked_conversation_id: string | null;
  metadata: ConversationRecord['metadata'];
  resolved_at: string | null;
  event_sequence: number;
  version: number;
  created_at: string;
  updated_at: string;
}

/** For `from conversation c`. */
export const CONVERSATION_COLUMNS = `c.id, c.mailbox_id, c.number, c.subject, c.base_subject, c.preview, c.status, c.disposition,
  c.priority, c.department_id, c.assignee_type, c.assignee_id, c.assignee_name, c.labels, c.system_labels, c.participants,
  c.snoozed_until, c.snooze_wake_on_reply, c.status_before_snooze, c.message_count, c.unread_count, c.attachment_count,
  c.size_bytes, c.last_message_id, c.last_message_at, c.last_inbound_at, c.last_outbound_at, c.first_response_at,
  c.waiting_since, c.open_draft_id, c.open_approval_id, c.scheduled_count, c.trust, c.merged_into_id,
  c.linked_conversation_id, c.metadata, c.resolved_at, c.event_sequence, c.version, c.created_at, c.updated_at`;
