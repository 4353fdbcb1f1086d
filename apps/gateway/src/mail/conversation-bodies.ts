import { z } from 'zod';
import { CONVERSATION_STATUSES, DISPOSITIONS, PRIORITIES } from '@dak/contracts/api';
import type {
  Assignee,
  AssignConversationRequest,
  ChangeConversationsRequest,
  ChangeLabelsRequest,
  SnoozeConversationRequest,
  UpdateConversationRequest,
} from '@dak/contracts/mail';
import { jsonField, metadataPatch, sentFields, utcTime } from '@dak/contracts/requests';

const MAX_BULK = 100;
const MAX_LABEL_CHANGES = 200;

const labels = z.array(z.string().max(100)).max(MAX_LABEL_CHANGES);

const changes = {
  status: z.enum(CONVERSATION_STATUSES).optional().meta({
    description: 'Snoozed and closed cannot be set: snooze has a route, closing happens by itself.',
  }),
  priority: z.enum(PRIORITIES).optional(),
  subject: z.string().max(998).optional(),
  department_id: z.uuid().nullable().optional(),
  disposition: z.enum(DISPOSITIONS).optional(),
  metadata: metadataPatch.optional(),
  unread: z.boolean().optional().meta({ description: 'Marks every message read or unread.' }),
};

const labelChanges = { add: labels.optional(), remove: labels.optional() };

const snooze = {
  until: utcTime.nullable().optional().meta({
    description: 'Absent or null: until somebody replies.',
  }),
  wake_on_reply: z.boolean().optional().meta({ default: true }),
};

const assignment = {
  assignee: z
    .object({ type: z.enum(['user', 'agent']).default('user'), id: z.uuid() })
    .nullable()
    .meta({ description: 'null: nobody.' }),
  department_id: z.uuid().nullable().optional().meta({
    description: 'Absent: stays as it is; null: none.',
  }),
  note: z.string().max(100_000).nullable().optional().meta({
    description: 'Written into the conversation as an internal note.',
  }),
};

export const updateConversationBody = z.object(changes).meta({ id: 'UpdateConversation' });
export const changeLabelsBody = z
  .object(labelChanges)
  .meta({ id: 'ChangeLabels', description: 'A label that is in both lists is removed.' });
export const snoozeBody = z.object(snooze).meta({ id: 'Snooze' });
export const assignBody = z.object(assignment).meta({ id: 'Assign' });

const ids = z.array(z.uuid()).min(1).max(MAX_BULK);

export const bulkBody = z
  .discriminatedUnion(
    'action',
    [
      z.object({ ids, action: z.literal('update'), ...changes }),
      z.object({ ids, action: z.literal('labels'), ...labelChanges }),
      z.object({ ids, action: z.literal('snooze'), ...snooze }),
      z.object({ ids, action: z.literal('unsnooze') }),
      z.object({ ids, action: z.literal('assign'), ...assignment }),
    ],
    { error: 'must be update, labels, snooze, unsnooze or assign.' },
  )
  .meta({ id: 'ChangeConversations' });

export function toUpdateConversation(
  id: string,
  expectedVersion: number | null,
  body: z.output<typeof updateConversationBody>,
): UpdateConversationRequest {
  return {
    id,
    expectedVersion: expectedVersion ?? undefined,
    fields: sentFields(changes, body),
    status: body.status,
    priority: body.priority,
    subject: body.subject,
    departmentId: body.department_id ?? undefined,
    disposition: body.disposition,
    metadataJson: jsonField(body.metadata),
    unread: body.unread,
  };
}

export function toChangeLabels(
  id: string,
  body: z.output<typeof changeLabelsBody>,
): ChangeLabelsRequest {
  return { id, add: body.add ?? [], remove: body.remove ?? [] };
}

export function toSnooze(id: string, body: z.output<typeof snoozeBody>): SnoozeConversationRequest {
  return { id, until: body.until ?? undefined, wakeOnReply: body.wake_on_reply ?? true };
}

/** @param assignee with the name that the gateway knows; undefined = nobody */
export function toAssign(
  id: string,
  body: z.output<typeof assignBody>,
  assignee: Assignee | undefined,
): AssignConversationRequest {
  return {
    id,
    assignee,
    setsDepartment: body.department_id !== undefined,
    departmentId: body.department_id ?? undefined,
    note: body.note ?? undefined,
  };
}

/** @param assignee of the action assign */
export function toBulkChange(
  body: z.output<typeof bulkBody>,
  assignee: Assignee | undefined,
): ChangeConversationsRequest {
  return { ids: body.ids, action: bulkAction(body, assignee) };
}

function bulkAction(
  body: z.output<typeof bulkBody>,
  assignee: Assignee | undefined,
): ChangeConversationsRequest['action'] {
  switch (body.action) {
    case 'update':
      return { $case: 'update', value: toUpdateConversation('', null, body) };
    case 'labels':
      return { $case: 'labels', value: toChangeLabels('', body) };
    case 'snooze':
      return { $case: 'snooze', value: toSnooze('', body) };
    case 'unsnooze':
      return { $case: 'unsnooze', value: { id: '' } };
    case 'assign':
      return { $case: 'assign', value: toAssign('', body, assignee) };
  }
}
