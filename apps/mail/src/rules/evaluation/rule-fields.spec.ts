import { CreateRule, fieldShapeOf, operatorsOf, RULE_FIELDS } from '@dak/contracts/api';
import { evaluateRule } from './evaluate-rule';
import { neededFacts, valuesOf, type RuleMessage } from '../definition/rule-fields';

const LABELS = ['urgent'];
const verdict = { result: 'pass', detail: '' } as never;
/** It has something for every field. */
const full: RuleMessage = {
  id: 'm',
  mailboxId: 'b',
  mailboxAddress: 'support@example.org',
  timeZone: 'Asia/Kolkata',
  conversationId: 'c',
  kind: 'human',
  from: { email: 'meera@customer.example', name: 'Meera Iyer' },
  to: [{ email: 'support@example.org', name: '' }],
  cc: [{ email: 'ravi@customer.example', name: '' }],
  replyTo: [],
  subject: 'Invoice',
  textNew: 'Please pay.',
  text: 'Please pay.\n> old words',
  attachments: [{ filename: 'bill.pdf', contentType: 'application/pdf' }],
  sizeBytes: 4096,
  authentication: { spf: verdict, dkim: verdict, dmarc: verdict, arc: verdict, tls: verdict },
  mayAutoReply: true,
  hasEmptyReversePath: false,
  listMail: false,
  receivedAt: Date.UTC(2026, 10, 23, 23, 30),
  isFirstContact: true,
  language: 'en',
  headers: new Map([['received', ['from a by b for <support+billing@example.org>; date']]]),
  messageIdHeader: null,
};

describe.each(RULE_FIELDS)('the field %s', (name) => {
  const field = fieldShapeOf(name)!;
  const values = valuesOf(full, LABELS, name);

  it('has a value, of its type and among its choices', () => {
    expect(values).not.toEqual([]);
    for (const { compared } of values) {
      const type = field.type === 'number' || field.type === 'boolean' ? field.type : 'string';
      expect(typeof compared).toBe(type);
      if (field.choices !== undefined) expect(field.choices).toContain(compared);
    }
  });

  it('can be asked for with each of its operators', () => {
    const [{ compared }] = values as [(typeof values)[0]];
    for (const operator of operatorsOf(field)) {
      const value = operator === 'exists' ? true : operator === 'in' ? [compared] : compared;
      const given = [{ field: name, operator, value }];
      const actions = [{ type: 'add_labels', labels: ['seen'] }];
      const { conditions } = CreateRule.parse({ name: 'Any', conditions: given, actions });
      const isCompared = operator !== 'greater_than' && operator !== 'less_than';
      const { matched } = evaluateRule({ match: 'all', conditions }, full, LABELS);
      expect([operator, matched]).toEqual([operator, isCompared]);
    }
  });

  it('says what has to be read for it', () => {
    const condition = { field: name, operator: 'exists', value: true, negate: false } as const;
    const needed = neededFacts([{ conditions: [condition] }]);
    const read: RuleMessage = {
      ...full,
      ...(needed.text ? {} : { text: null, textNew: null }),
      ...(needed.language ? {} : { language: null }),
      ...(needed.headers ? {} : { headers: new Map() }),
      ...(needed.attachments ? {} : { attachments: [] }),
    };
    expect(valuesOf(read, LABELS, name)).toEqual(values);
  });
});

it('a field of the header has the values of its lines', () => {
  expect(valuesOf(full, [], 'header:Received')).toHaveLength(1);
  expect(neededFacts([{ conditions: [{ field: 'header:received' } as never] }])).toEqual({
    text: false,
    language: false,
    headers: true,
    attachments: false,
  });
});

it('an unknown field is none', () => {
  expect([fieldShapeOf('colour'), fieldShapeOf('toString'), fieldShapeOf('header:')]).toEqual([
    null,
    null,
    null,
  ]);
});
