import { z } from 'zod';
import { timeShape } from '../../requests';

const UUID = z.uuid();

/** What narrows a list of conversations, in the query of the list as in the body of a search. */
export const ConversationFilter = z.object({
  mailbox: UUID.optional(),
  status: z.string().max(200).optional().meta({
    description:
      'One or more statuses, separated by commas, or `all`. An unknown status matches nothing.',
  }),
  label: z.string().max(63).optional(),
  department: UUID.optional(),
  assignee: z
    .string()
    .refine(
      (text) => text === 'me' || text === 'none' || UUID.safeParse(text).success,
      'must be me, none or a UUID.',
    )
    .optional()
    .meta({ description: '`me`, `none`, or the ID of a user or agent.' }),
  disposition: z.string().max(200).optional().meta({
    description:
      'One or more dispositions, separated by commas, or `all`. Default: everything except spam and trash.',
  }),
  before: timeShape.optional().meta({
    description: 'Last message before this time.',
  }),
  after: timeShape.optional().meta({
    description: 'Last message at or after this time.',
  }),
});

export const CONVERSATION_SORTS = [
  'last_message_at',
  '-last_message_at',
  'created_at',
  '-created_at',
] as const;

/** The route adds the page. */
export const ListConversations = ConversationFilter.extend({
  q: z.string().max(500).optional().meta({ description: 'Words in its messages.' }),
  sort: z.enum(CONVERSATION_SORTS).optional().meta({
    default: '-last_message_at',
    description: 'Oldest first; with a leading minus, newest first.',
  }),
});

export type ConversationFilter = z.output<typeof ConversationFilter>;
export type ConversationSort = (typeof CONVERSATION_SORTS)[number];
