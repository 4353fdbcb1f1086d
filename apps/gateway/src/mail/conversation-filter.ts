import { z } from 'zod';
import type { ConversationFilter } from '@dak/contracts/mail';

const UUID = z.uuid();

/** What narrows a list of conversations, in the query of the list as in the body of a search. */
export const conversationFilterFields = {
  mailbox: z.uuid().optional(),
  status: z.string().max(200).optional().meta({
    description: 'A status, a comma list or `all`. One that does not exist matches nothing.',
  }),
  label: z.string().max(63).optional(),
  department: z.uuid().optional(),
  assignee: z
    .string()
    .refine(
      (text) => text === 'me' || text === 'none' || UUID.safeParse(text).success,
      'must be me, none or a UUID.',
    )
    .optional()
    .meta({ description: '`me`, `none` or the id of a user or agent.' }),
  disposition: z.string().max(200).optional().meta({
    description:
      'A disposition, a comma list or `all`. Absent: what is neither spam nor in the trash.',
  }),
  before: z.iso.datetime({ offset: true }).optional().meta({
    description: 'Last message before this time.',
  }),
  after: z.iso.datetime({ offset: true }).optional().meta({
    description: 'Last message at or after this time.',
  }),
};

type FilterFields = z.output<z.ZodObject<typeof conversationFilterFields>>;

export function toConversationFilter(filter: FilterFields, query?: string): ConversationFilter {
  return {
    mailboxId: filter.mailbox,
    status: filter.status,
    query,
    label: filter.label,
    departmentId: filter.department,
    assignee: filter.assignee,
    disposition: filter.disposition,
    before: filter.before,
    after: filter.after,
  };
}
