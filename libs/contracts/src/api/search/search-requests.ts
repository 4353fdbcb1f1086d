import { z } from 'zod';
import { ConversationFilter } from '../conversations/conversation-filter';
import { SEARCH_TYPES } from './search-records';

export const searchWords = z.string().trim().min(1).max(500);

/** The words and filters of a search; the route adds the page. */
export const Search = z.object({
  q: searchWords.meta({
    description: 'Search words; quotes, `or` and a leading minus work as in web searches.',
  }),
  filters: ConversationFilter.optional(),
  types: z.array(z.enum(SEARCH_TYPES)).max(2).optional().meta({ description: 'Absent: both.' }),
});
