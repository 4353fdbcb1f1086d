import type { RuleCondition } from '@dak/contracts/api';
import fc from 'fast-check';

import { evaluateRule } from './evaluate-rule';
import { patternsInPlace } from './pattern-tests';
import type { RuleMessage } from '../definition/rule-fields';

const MONDAY_2330_UTC = Date.UTC(2026, 10, 23, 23, 30);

function message(overrides: Partial<RuleMessage> = {}): RuleMessage {
  return {
    id: 'm',
    mailboxId: 'b',
    mailboxAddress: 'support@example.org',
    timeZone: 'UTC',
    conversationId: 'c',
    kind: 'human',
    from: { email: 'Meera@Customer.example', name: 'Meera Iyer' },
    to: [{ email: 'Support+billing@example.org', name: '' }],
    cc: [],
    replyTo: [],
    subject: 'Re: Straße 5 — Invoice №66',
    textNew: 'Please pay.',
    text: 'Please pay.\n> old words',
    attachments: [{ filename: 'Bill.PDF', contentType: 'application/pdf' }],
    sizeBytes: 4096,
    authentication: null,
    mayAutoReply: true,
    hasEmptyReversePath: false,
    listMail: false,
    receivedAt: MONDAY_2330_UTC,
    isFirstContact: true,
    language: 'en',
    headers: new Map([['x-priority', ['1 (Highest)', 'two']]]),
    messageIdHeader: null,
    ...overrides,
  };
}

function condition(
  field: string,
  operator: RuleCondition['operator'],
  value: RuleCondition['value'] = true,
  negate = false,
): RuleCondition {
  return { field, operator, value, negate };
}

function holds(one: RuleCondition, overrides: Partial<RuleMessage> = {}, labels: string[] = []) {
  return evaluateRule({ match: 'all', conditions: [one] }, message(overrides), labels).matched;
}

describe('a condition', () => {
  it.each([
    ['from', 'equals', 'meera@customer.EXAMPLE', true],
    ['from', 'equals', 'meera iyer', true],
    ['from', 'ends_with', '@customer.example', true],
    ['from', 'starts_with', 'customer', false],
    ['to', 'contains', 'billing', true],
    ['cc', 'exists', true, false],
    ['cc', 'exists', false, true],
    ['recipient', 'equals', 'support+billing@example.org', true],
    ['recipient', 'equals', 'support@example.org', true],
    ['recipient', 'in', ['sales@example.org'], false],
    ['subject', 'contains', 'STRASSE', false],
    ['subject', 'contains', 'STRAßE', true],
    ['subject', 'matches', '№\\d+$', true],
    ['subject', 'matches', 'invoice', false],
    ['subject', 'matches', '(?i)invoice', true],
    ['body', 'contains', 'old words', true],
    ['body', 'ends_with', 'pay.', true],
    ['attachment_name', 'ends_with', '.pdf', true],
    ['attachment_type', 'in', ['image/png', 'application/pdf'], true],
    ['has_attachment', 'equals', true, true],
    ['has_attachment', 'exists', true, true],
    ['has_attachment', 'equals', false, false],
    ['size_bytes', 'greater_than', 4095, true],
    ['size_bytes', 'greater_than', 4096, false],
    ['size_bytes', 'less_than', 4097, true],
    ['size_bytes', 'in', [1, 4096], true],
    ['kind', 'equals', 'human', true],
    ['kind', 'in', ['list', 'dsn'], false],
    ['spf', 'exists', true, false],
    ['dkim', 'equals', 'pass', false],
    ['first_contact', 'equals', true, true],
    ['language', 'in', ['hi', 'en'], true],
    ['received_at_hour', 'equals', 23, true],
    ['received_on_weekday', 'equals', 'mon', true],
    ['header:x-priority', 'starts_with', 'TWO', true],
    ['header:x-other', 'exists', true, false],
  ] satisfies [string, RuleCondition['operator'], RuleCondition['value'], boolean][])(
    '%s %s %j is %s',
    (field, operator, value, expected) => {
      const one = condition(field, operator, value);
      expect(holds(one)).toBe(expected);
      expect(holds({ ...one, negate: true })).toBe(!expected);
    },
  );

  it('looks at hour and weekday where the mailbox is', () => {
    const there = { timeZone: 'Asia/Kolkata' };
    expect(holds(condition('received_at_hour', 'equals', 5), there)).toBe(true);
    expect(holds(condition('received_on_weekday', 'equals', 'tue'), there)).toBe(true);
    // Midnight is the hour 0, not 24.
    const midnight = { receivedAt: Date.UTC(2026, 0, 1) };
    expect(holds(condition('received_at_hour', 'equals', 0), midnight)).toBe(true);
  });

  it('looks at the labels that the conversation has by then', () => {
    expect(holds(condition('label', 'equals', 'vip'), {}, ['vip'])).toBe(true);
    expect(holds(condition('label', 'equals', 'vip'))).toBe(false);
  });

  it('compares verdicts once there are any', () => {
    const none = { result: 'none', domain: null };
    const authentication = {
      spf: { result: 'pass', domain: 'customer.example' },
      dkim: none,
      dmarc: { result: 'fail', domain: null },
      arc: none,
      tls: none,
    };
    expect(holds(condition('spf', 'equals', 'PASS'), { authentication })).toBe(true);
    expect(holds(condition('dmarc', 'in', ['fail', 'none']), { authentication })).toBe(true);
  });

  it('finds what is written in another normal form', () => {
    expect(holds(condition('subject', 'contains', 'caf\u00e9'), { subject: 'Cafe\u0301' })).toBe(
      true,
    );
  });

  it('takes the recipient from our own trace field, and from no other', () => {
    const received = (value: string) => ({
      to: [],
      headers: new Map([['received', [value, 'by x; for <support+old@example.org>; y']]]),
    });
    const one = condition('recipient', 'equals', 'support+vip@example.org');
    expect(holds(one, received('from x by y for <support+vip@example.org>; now'))).toBe(true);
    expect(holds(one, received('from x by y for <other+vip@example.org>; now'))).toBe(false);
  });

  it('says what it has found, cut between characters', () => {
    const rule = {
      match: 'all' as const,
      conditions: [
        condition('subject', 'contains', 'x'),
        condition('from', 'exists', true),
        condition('header:x-priority', 'equals', '1'),
        condition('dkim', 'equals', 'pass'),
      ],
    };
    const { conditions } = evaluateRule(rule, message({ subject: '😀'.repeat(500) }), []);
    expect(conditions.map(({ actual }) => actual)).toEqual([
      `${'😀'.repeat(199)}…`,
      'Meera Iyer <Meera@Customer.example>',
      ['1 (Highest)', 'two'],
      null,
    ]);
    expect(conditions.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });
});

describe('a rule', () => {
  const conditions = fc.array(
    fc.record({ holds: fc.boolean(), negate: fc.boolean() }).map(({ holds: isTrue, negate }) => ({
      expected: isTrue !== negate,
      condition: condition('has_attachment', 'equals', isTrue, negate),
    })),
    { maxLength: 8 },
  );

  it('needs all or any of its conditions, each turned round where negated; none = every mail', () => {
    fc.assert(
      fc.property(conditions, (cases) => {
        const of = (match: 'all' | 'any') =>
          evaluateRule({ match, conditions: cases.map((one) => one.condition) }, message(), []);
        const expected = cases.map((one) => one.expected);
        expect(of('all').conditions.map(({ matched }) => matched)).toEqual(expected);
        expect(of('all').matched).toBe(expected.every(Boolean));
        expect(of('any').matched).toBe(cases.length === 0 || expected.some(Boolean));
      }),
    );
  });

  it('is the opposite when everything about it is (De Morgan)', () => {
    fc.assert(
      fc.property(
        conditions.filter((cases) => cases.length > 0),
        (cases) => {
          const plain = cases.map((one) => one.condition);
          const opposite = plain.map((one) => ({ ...one, negate: !one.negate }));
          const all = evaluateRule({ match: 'all', conditions: plain }, message(), []).matched;
          const any = evaluateRule({ match: 'any', conditions: opposite }, message(), []).matched;
          expect(any).toBe(!all);
        },
      ),
    );
  });

  it('never throws for whatever text a mail holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (subject, value) => {
        for (const operator of ['equals', 'contains', 'starts_with', 'ends_with'] as const) {
          holds(condition('subject', operator, value), { subject });
        }
        expect(holds(condition('subject', 'contains', subject), { subject })).toBe(subject !== '');
      }),
    );
  });

  it('comes to an end with all that a tenant may write down, in the same way every time', () => {
    const text = 'a'.repeat(300_000);
    const conditions = Array.from({ length: 50 }, (_, index) =>
      condition('body', 'matches', `(a|aa)+(b|c){${index}}$`),
    );
    const patterns = patternsInPlace();
    const started = performance.now();
    const verdicts = () =>
      evaluateRule({ match: 'all', conditions }, message({ text }), [], patterns);
    const first = verdicts();
    for (let rule = 0; rule < 20; rule += 1) verdicts();
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(first).toEqual(
      evaluateRule({ match: 'all', conditions }, message({ text }), [], patternsInPlace()),
    );
  });

  it('takes a hostile expression over a large text in its stride', () => {
    const started = performance.now();
    const text = `${'a'.repeat(1024 * 1024)}!`;
    for (const source of ['(a+)+$', '(a|aa)+$', '(a*)*b', '(?:a?){200}a{200}$']) {
      expect(holds(condition('body', 'matches', source), { textNew: null, text })).toBe(
        source.endsWith('{200}$') || source.endsWith('+$'),
      );
    }
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
