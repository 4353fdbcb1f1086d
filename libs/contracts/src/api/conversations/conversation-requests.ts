import { z } from 'zod';
import { idListShape, idShape, metadataPatch, utcTime } from '../../requests';
import { ChangeLabels } from '../labels/label-requests';
import { CONVERSATION_LIMITS } from './conversation-limits';
import { CONVERSATION_STATUSES, DISPOSITIONS, PRIORITIES } from './conversation-records';

const MAX_SUBJECT = 998;

const departmentId = idShape.nullable().optional();

export const UpdateConversation = z
  .object({
    status: z.enum(CONVERSATION_STATUSES).optional().meta({
      description:
        'Cannot be set to snoozed or closed: snoozing has its own route, and resolved conversations close automatically.',
    }),
    priority: z.enum(PRIORITIES).optional(),
    subject: z
      .string()
      .max(MAX_SUBJECT)
      .refine((text) => !/\p{Cc}/u.test(text), 'must not hold line breaks.')
      .optional(),
    department_id: departmentId,
    disposition: z.enum(DISPOSITIONS).optional(),
    metadata: metadataPatch.optional(),
    unread: z.boolean().optional().meta({ description: 'Marks all messages as read or unread.' }),
  })
  .meta({ id: 'UpdateConversation' });

const snoozeFields = {
  until: utcTime.nullable().optional().meta({
    description: 'Absent or null: until a reply arrives.',
  }),
  wake_on_reply: z.boolean().default(true),
};
const wakes = ({ until, wake_on_reply }: { until?: string | null; wake_on_reply: boolean }) =>
  wake_on_reply || typeof until === 'string';
const NEVER_WAKES = {
  path: ['until'],
  error: 'is required when wake_on_reply is false: nothing else would wake it.',
};

export const SnoozeConversation = z
  .object(snoozeFields)
  .refine(wakes, NEVER_WAKES)
  .meta({ id: 'Snooze' });

export const AssignConversation = z
  .object({
    assignee: z
      .object({ type: z.enum(['user', 'agent']).default('user'), id: idShape })
      .nullable()
      .meta({ description: 'null: unassigned.' }),
    department_id: departmentId.meta({ description: 'Absent: unchanged; null: none.' }),
    note: z.string().max(CONVERSATION_LIMITS.note_characters).nullable().optional().meta({
      description: 'Added to the conversation as an internal note.',
    }),
  })
  .meta({ id: 'Assign' });

const ids = idListShape(CONVERSATION_LIMITS.conversations_per_change).min(1);

export const ChangedConversations = z.object({ ids });

export const ChangeConversations = z
  .discriminatedUnion(
    'action',
    [
      z.object({ ids, action: z.literal('update'), ...UpdateConversation.shape }),
      z.object({ ids, action: z.literal('labels'), ...ChangeLabels.shape }),
      z.object({ ids, action: z.literal('snooze'), ...snoozeFields }).refine(wakes, NEVER_WAKES),
      z.object({ ids, action: z.literal('unsnooze') }),
      z.object({ ids, action: z.literal('assign'), ...AssignConversation.shape }),
    ],
    { error: 'must be update, labels, snooze, unsnooze or assign.' },
  )
  .meta({ id: 'ChangeConversations' });

export const MergeConversations = z.object({
  source_ids: idListShape(CONVERSATION_LIMITS.conversations_per_merge).min(1),
});

export const SplitConversation = z.object({
  message_ids: idListShape(CONVERSATION_LIMITS.messages_per_split).min(1),
});

export const AddNote = z.object({
  body_text: z
    .string()
    .min(1)
    .max(CONVERSATION_LIMITS.note_characters)
    .refine((text) => text === '' || text.trim() !== '', 'must not be empty.'),
  mentions: idListShape(CONVERSATION_LIMITS.mentions_per_note)
    .optional()
    .meta({ description: 'Ids of users.' }),
});

export type UpdateConversation = z.output<typeof UpdateConversation>;
export type SnoozeConversation = z.output<typeof SnoozeConversation>;
export type AssignConversation = z.output<typeof AssignConversation>;
export type ChangeConversations = z.output<typeof ChangeConversations>;
