import { RuleDefinition } from '@dak/contracts/mail';
import { uuidv7 } from '@dak/kernel';
import { parseRule, patchRule } from './parse-rule';

const NOW = Date.UTC(2026, 10, 21);
const LABEL = { type: 'add_labels', labels: ['billing'] };

function sent(fields: {
  name?: string;
  kind?: string;
  priority?: number;
  mailboxIds?: string[];
  match?: string;
  conditions?: unknown;
  actions?: unknown;
}): RuleDefinition {
  const { conditions = [], actions = [LABEL], ...rest } = fields;
  return RuleDefinition.fromPartial({
    name: 'Invoices',
    kind: 'automation',
    match: 'all',
    conditionsJson: Buffer.from(JSON.stringify(conditions)),
    actionsJson: Buffer.from(JSON.stringify(actions)),
    ...rest,
  });
}

const conditionsOf = (conditions: unknown) => parseRule(sent({ conditions }), NOW).conditions;
const actionsOf = (actions: unknown) => parseRule(sent({ actions }), NOW).actions;
const one = (field: string, operator: string, value?: unknown) => [{ field, operator, value }];

describe('conditions', () => {
  it('are taken with their defaults', () => {
    expect(
      conditionsOf([
        { field: 'subject', operator: 'contains', value: 'x' },
        { field: 'header:X-Spam-Flag', operator: 'exists', negate: true },
        { field: 'kind', operator: 'in', value: ['List', 'dsn'] },
      ]),
    ).toEqual([
      { field: 'subject', operator: 'contains', value: 'x', negate: false },
      { field: 'header:x-spam-flag', operator: 'exists', value: true, negate: true },
      { field: 'kind', operator: 'in', value: ['list', 'dsn'], negate: false },
    ]);
  });

  it.each([
    [one('sender', 'equals', 'x'), /^conditions\[0\]\.field must be one of from, to/],
    [one('header:', 'exists'), /^conditions\[0\]\.field/],
    [one('header:a b', 'exists'), /^conditions\[0\]\.field/],
    [one('constructor', 'exists'), /^conditions\[0\]\.field/],
    [one('subject', 'like', 'x'), /^conditions\[0\]\.operator must be one of "equals"/],
    [
      one('subject', 'greater_than', 3),
      /^conditions\[0\]\.operator greater_than does not fit subject/,
    ],
    [one('size_bytes', 'contains', '3'), /does not fit size_bytes/],
    [one('kind', 'exists'), /does not fit kind/],
    [one('size_bytes', 'greater_than', '3'), /^conditions\[0\]\.value must be an integer/],
    [one('received_at_hour', 'equals', 24), /from 0 to 23/],
    [one('received_on_weekday', 'equals', 'monday'), /one of mon, tue/],
    [one('has_attachment', 'equals', 'yes'), /^conditions\[0\]\.value must be true or false/],
    [one('subject', 'equals', ''), /1 to 1000 characters/],
    [one('subject', 'equals', 'x'.repeat(1001)), /1 to 1000 characters/],
    [one('subject', 'equals', 'a\0'), /characters that no text has/],
    [one('subject', 'equals', '\ud800'), /characters that no text has/],
    [one('subject', 'in', 'x'), /must be a list of 1 to 200/],
    [one('subject', 'in', []), /must be a list of 1 to 200/],
    [one('subject', 'in', ['x', 3]), /^conditions\[0\]\.value\[1\]/],
    [one('subject', 'matches', '('), /^conditions\[0\]\.value must be a regular expression/],
    [one('subject', 'matches', 'a(?=b)'), /look-around/],
    [one('subject', 'matches', '(a)\\1'), /regular expression/],
    [
      one('subject', 'matches', '((a{30}){30}){2}'),
      /too large a regular expression|regular expression/,
    ],
    [
      [{ field: 'subject', operator: 'contains', value: 'x', negated: true }],
      /^conditions\[0\]\.negated is not a member/,
    ],
    [
      [{ field: 'subject', operator: 'contains', value: 'x', negate: 1 }],
      /^conditions\[0\]\.negate/,
    ],
    [
      [{ field: 'subject', operator: 'contains', value: 'x' }, null],
      /^conditions\[1\] must be an object/,
    ],
    [{}, /^conditions must be an array/],
    [
      Array.from({ length: 4 }, () => one('subject', 'matches', '(?:a{30}){20}')[0]),
      /^conditions have too large regular expressions/,
    ],
    [
      Array.from({ length: 3 }, () => one('subject', 'in', Array(150).fill('x'.repeat(990)))[0]),
      /^conditions must have at most 262144 bytes/,
    ],
    [Array.from({ length: 51 }, () => one('subject', 'exists')[0]), /at most 50/],
  ])('are refused by name: %#', (conditions, message) => {
    expect(() => conditionsOf(conditions)).toThrow(message);
  });
});

describe('actions', () => {
  it('are taken in their one form', () => {
    const id = uuidv7();
    expect(
      actionsOf([
        { type: 'forward', to: 'Archive <archive@Partner.example>' },
        { type: 'assign', user_id: id.toUpperCase(), user_name: 'Ravi' },
        { type: 'set_department', department_id: null },
        { type: 'snooze', until: '2026-11-22T00:00:00+01:00' },
        { type: 'reply_with_template', template_id: id },
      ]),
    ).toEqual([
      { type: 'forward', to: ['Archive <archive@partner.example>'] },
      { type: 'assign', user_id: id, user_name: 'Ravi' },
      { type: 'set_department', department_id: null },
      { type: 'snooze', until: '2026-11-21T23:00:00.000Z' },
      { type: 'reply_with_template', template_id: id, variables: {} },
    ]);
  });

  it.each([
    [[], /^actions must have at least 1 element/],
    [Array(21).fill(LABEL), /^actions must have at most 20 elements/],
    [[{ type: 'delete' }], /^actions\[0\]\.type must be one of add_labels/],
    [[null], /^actions\[0\] must be an object/],
    [[{ ...LABEL, label: 'x' }], /^actions\[0\]\.label is not a member of it/],
    [[{ type: 'add_labels', labels: ['Big'] }], /^actions\[0\]\.labels\[0\]/],
    [[{ type: 'add_labels', labels: ['unread'] }], /system label/],
    [[{ type: 'add_labels' }], /^actions\[0\]\.labels must be a list/],
    [[{ type: 'assign', user_id: 'ravi' }], /^actions\[0\]\.user_id must be a UUID/],
    [[{ type: 'set_status', status: 'closed' }], /^actions\[0\]\.status must be one of "open"/],
    [[{ type: 'set_status', status: 'snoozed' }], /^actions\[0\]\.status/],
    [[{ type: 'set_priority', priority: 'top' }], /^actions\[0\]\.priority/],
    [[{ type: 'snooze' }], /either minutes or until/],
    [[{ type: 'snooze', minutes: 1, until: '2027-01-01T00:00:00Z' }], /either minutes or until/],
    [[{ type: 'snooze', minutes: 0 }], /^actions\[0\]\.minutes/],
    [[{ type: 'snooze', until: '2026-01-01T00:00:00Z' }], /in the future/],
    [[{ type: 'forward', to: [] }], /^actions\[0\]\.to/],
    [[{ type: 'forward', to: ['a@b.example', 'nobody'] }], /^actions\[0\]\.to\[1\]/],
    [[{ type: 'forward', to: 'a@b.example\r\nBcc: c@d.example' }], /^actions\[0\]\.to\[0\]/],
    [
      [{ type: 'reply_with_template', template_id: uuidv7(), variables: [] }],
      /variables must be an object/,
    ],
    [
      [
        {
          type: 'reply_with_template',
          template_id: uuidv7(),
          variables: { a: 'x'.repeat(20_000) },
        },
      ],
      /16384 bytes/,
    ],
    [[{ type: 'notify_webhook' }], /^actions\[0\]\.webhook_id/],
  ])('are refused by name: %#', (actions, message) => {
    expect(() => actionsOf(actions)).toThrow(message);
  });
});

describe('a rule', () => {
  it.each([
    ['forwarding', [LABEL], /actions must have forward in a rule of the kind forwarding/],
    ['department', [LABEL], /set_department/],
    ['labeling', [{ type: 'set_priority', priority: 'low' }], /add_labels, remove_labels/],
    ['routing', [LABEL], /one of assign, set_department/],
    ['sorting', [LABEL], /^kind must be one of/],
  ])('of the kind %s does what it is called', (kind, actions, message) => {
    expect(() => parseRule(sent({ kind, actions }), NOW)).toThrow(message);
  });

  it.each([
    [{ name: ' ' }, /^name/],
    [{ name: 'a\nb' }, /^name/],
    [{ name: 'x'.repeat(201) }, /^name/],
    [{ match: 'most' }, /^match/],
    [{ priority: 1_000_001 }, /^priority/],
    [{ mailboxIds: ['x'] }, /^mailbox_ids\[0\]/],
  ])('is refused by name: %j', (fields, message) => {
    expect(() => parseRule(sent(fields), NOW)).toThrow(message);
  });

  it('keeps what a change does not name, and is checked as a whole', () => {
    const rule = parseRule(sent({ kind: 'labeling', conditions: one('subject', 'exists') }), NOW);
    const renamed = patchRule(rule, ['name'], sent({ name: 'Other', conditions: [] }), NOW);
    expect(renamed).toEqual({ ...rule, name: 'Other' });
    const actions = [{ type: 'set_priority', priority: 'low' }];
    expect(() => patchRule(rule, ['actions'], sent({ actions }), NOW)).toThrow(/labeling/);
    expect(() => patchRule(rule, ['kind'], sent({ kind: 'forwarding' }), NOW)).toThrow(/forward/);
  });
});
