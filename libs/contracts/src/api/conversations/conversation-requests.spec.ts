import { parseRequest } from '../../requests';
import { AnalyticsQuery } from '../analytics/analytics-requests';
import { Search } from '../search/search-requests';
import { ConversationFilter } from './conversation-filter';
import {
  AddNote,
  AssignConversation,
  ChangeConversations,
  MergeConversations,
  SnoozeConversation,
  SplitConversation,
  UpdateConversation,
} from './conversation-requests';

const ID = '6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d';
const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => ID.slice(0, -4) + (1000 + index));

it.each([
  ['an update', UpdateConversation, { status: 'new' }, /^status must be one of/],
  ['an update', UpdateConversation, { status: null }, /^status must be one of/],
  ['an update', UpdateConversation, { priority: 'top' }, /^priority must be one of/],
  ['an update', UpdateConversation, { disposition: 'junk' }, /^disposition must be one of/],
  ['an update', UpdateConversation, { subject: 'a\nb' }, /^subject must not hold line breaks/],
  ['an update', UpdateConversation, { subject: 'a'.repeat(999) }, /^subject must have at most 998/],
  ['an update', UpdateConversation, { department_id: 'x' }, /^department_id must be a UUID/],
  ['an update', UpdateConversation, { metadata: [] }, /^metadata must be an object/],
  ['an update', UpdateConversation, { unread: null }, /^unread must be true or false/],
  ['a snooze', SnoozeConversation, { wake_on_reply: false }, /^until is required when/],
  ['a snooze', SnoozeConversation, { until: 'tomorrow' }, /^until must be an RFC 3339/],
  ['an assignment', AssignConversation, {}, /^assignee is missing/],
  ['an assignment', AssignConversation, { assignee: { type: 'rule', id: ID } }, /^assignee\.type/],
  ['an assignment', AssignConversation, { assignee: { id: 'x' } }, /^assignee\.id must be a UUID/],
  ['a bulk change', ChangeConversations, { action: 'archive', ids: [ID] }, /^action must be/],
  [
    'a bulk change',
    ChangeConversations,
    { action: 'unsnooze', ids: [] },
    /^ids must have at least/,
  ],
  ['a bulk change', ChangeConversations, { action: 'unsnooze', ids: ids(101) }, /^ids must/],
  ['a merge', MergeConversations, { source_ids: [] }, /^source_ids must have at least 1/],
  ['a merge', MergeConversations, { source_ids: ids(51) }, /^source_ids must have at most 50/],
  ['a split', SplitConversation, { message_ids: [] }, /^message_ids must have at least 1/],
  ['a split', SplitConversation, { message_ids: ['x'] }, /^message_ids\[0\] must be a UUID/],
  ['a split', SplitConversation, { message_ids: ids(1001) }, /^message_ids must have at most 1000/],
  ['a note', AddNote, { body_text: ' \n' }, /^body_text must not be empty/],
  ['a note', AddNote, { body_text: '' }, /^body_text must not be empty\.$/],
  ['a note', AddNote, { body_text: 'a'.repeat(100_001) }, /^body_text must have at most 100000/],
  ['a note', AddNote, { body_text: 'a', mentions: ['x'] }, /^mentions\[0\] must be a UUID/],
  ['a note', AddNote, { body_text: 'a', mentions: ids(101) }, /^mentions must have at most 100/],
  ['a filter', ConversationFilter, { mailbox: 'x' }, /^mailbox must be a UUID/],
  ['a filter', ConversationFilter, { department: 'x' }, /^department must be a UUID/],
  ['a filter', ConversationFilter, { assignee: 'you' }, /^assignee must be me, none or a UUID/],
  ['a filter', ConversationFilter, { before: 'now' }, /^before must be an RFC 3339/],
  ['a search', Search, { q: '  ' }, /^q must not be empty/],
  ['a search', Search, { q: 'a'.repeat(501) }, /^q must have at most 500/],
  ['a search', Search, { q: 'a', types: ['draft'] }, /^types\[0\] must be one of/],
  ['a query of numbers', AnalyticsQuery, { from: '2026-02-30' }, /^from must be an RFC 3339 time/],
  ['a query of numbers', AnalyticsQuery, { to: '2026-02-30T00:00:00Z' }, /^to must be an RFC/],
  ['a query of numbers', AnalyticsQuery, { to: '2026-02-03T00:00' }, /^to must be an RFC/],
  ['a query of numbers', AnalyticsQuery, { granularity: 'year' }, /^granularity must be one of/],
  ['a query of numbers', AnalyticsQuery, { time_zone: '+05:30' }, /^time_zone must be an IANA/],
  ['a query of numbers', AnalyticsQuery, { time_zone: '' }, /^time_zone must be an IANA/],
])('%s is refused: %# %j', (_, schema, body, sentence) => {
  expect(() => parseRequest<typeof schema>(schema, body)).toThrow(sentence);
});

it('ids are in lower case and once', () => {
  const { source_ids } = parseRequest(MergeConversations, { source_ids: [ID.toUpperCase(), ID] });
  expect(source_ids).toEqual([ID]);
});

it('a snooze ends with a reply unless it says otherwise', () => {
  expect(parseRequest(SnoozeConversation, {})).toEqual({ wake_on_reply: true });
  const until = '2026-02-03T05:30:00+05:30';
  expect(parseRequest(SnoozeConversation, { until, wake_on_reply: false })).toEqual({
    until: '2026-02-03T00:00:00.000Z',
    wake_on_reply: false,
  });
});

it('a snooze that nothing would end is refused, of one conversation as of many', () => {
  const snooze = { wake_on_reply: false };
  const sentence = /^until is required when wake_on_reply is false/;
  expect(() => parseRequest(SnoozeConversation, snooze)).toThrow(sentence);
  const change = { ids: [ID], action: 'snooze', ...snooze };
  expect(() => parseRequest(ChangeConversations, change)).toThrow(sentence);
});
