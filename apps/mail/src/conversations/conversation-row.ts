import type { ConversationRecord } from '@dak/contracts/api';
import { tableColumns } from '@dak/platform/postgres';

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

export const CONVERSATION = tableColumns<ConversationRow>('conversation', {
  id: 'fixed',
  mailbox_id: 'changes',
  number: 'fixed',
  subject: 'changes',
  base_subject: 'changes',
  preview: 'changes',
  status: 'changes',
  disposition: 'changes',
  priority: 'changes',
  department_id: 'changes',
  assignee_type: 'changes',
  assignee_id: 'changes',
  assignee_name: 'changes',
  labels: 'changes',
  system_labels: 'changes',
  participants: 'changes',
  snoozed_until: 'changes',
  snooze_wake_on_reply: 'changes',
  status_before_snooze: 'changes',
  message_count: 'changes',
  unread_count: 'changes',
  attachment_count: 'changes',
  size_bytes: 'changes',
  last_message_id: 'changes',
  last_message_at: 'changes',
  last_inbound_at: 'changes',
  last_outbound_at: 'changes',
  first_response_at: 'changes',
  waiting_since: 'changes',
  open_draft_id: 'changes',
  open_approval_id: 'changes',
  scheduled_count: 'changes',
  trust: 'changes',
  merged_into_id: 'changes',
  linked_conversation_id: 'changes',
  metadata: 'changes',
  resolved_at: 'changes',
  event_sequence: 'changes',
  version: 'changes',
  created_at: 'fixed',
  updated_at: 'changes',
});

/** For `from conversation c`. */
export const CONVERSATION_COLUMNS = CONVERSATION.list('c');
