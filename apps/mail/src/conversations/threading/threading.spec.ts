import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { threadMessage } from '../../receiving/pipeline/thread-message';
import { readMessage } from '../../receiving/reading/read-message';
import { threadEvidence } from './thread-evidence';
import { threadGroups } from './thread-groups';
import { foldSubject, formerSubjectOf, type ThreadMessage } from './threading';

const SCRIPTS = join(__dirname, '../../../test/golden/threads');
const DAY = 24 * 3600 * 1000;

interface Script {
  messages: { id: number; envelope_date: string; headers: [string, string][] }[];
  expected_tree: Tree[];
}
interface Tree {
  id: number | null;
  children: Tree[];
}

function scriptThreads(name: string): { found: string[][]; expected: string[][] } {
  const script = JSON.parse(readFileSync(join(SCRIPTS, `${name}.json`), 'utf8')) as Script;
  const messages = script.messages.map(({ id, envelope_date, headers }) => {
    const lines = headers.map(([field, value]) => `${field}: ${value}\r\n`).join('');
    return threadMessage(readMessage(Buffer.from(`${lines}\r\nbody\r\n`)), {
      id: String(id),
      mailboxAddress: 'box@example.org',
      contentHash: String(id).padStart(4, '0'),
      receivedAt: Date.parse(envelope_date),
    });
  });
  const ids = (tree: Tree): string[] => [
    ...(tree.id === null ? [] : [String(tree.id)]),
    ...tree.children.flatMap(ids),
  ];
  return { found: sorted(threadGroups(messages)), expected: sorted(script.expected_tree.map(ids)) };
}

function sorted(groups: string[][]): string[][] {
  return groups.map((group) => [...group].sort()).sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
}

interface Sketch {
  id?: string;
  messageId?: string | null;
  inReplyTo?: string | null;
  references?: string[];
  threadIndexRoot?: string | null;
  subject?: string;
  isReplySubject?: boolean;
  at?: number;
  from?: string;
  to?: string[];
  text?: string;
  textNew?: string;
}

let sketches = 0;
function message(sketch: Sketch): ThreadMessage {
  const id = sketch.id ?? `m${(sketches += 1)}`;
  const subject = foldSubject(sketch.subject ?? 'Invoice');
  const address = (one: string) => ({ address: one, name: one.split('@')[0]! });
  return {
    id,
    messageId: sketch.messageId === undefined ? `${id}@x.example` : sketch.messageId,
    inReplyTo: sketch.inReplyTo ?? null,
    references: sketch.references ?? [],
    threadIndexRoot: sketch.threadIndexRoot ?? null,
    subject,
    formerSubject: formerSubjectOf(sketch.subject ?? 'Invoice'),
    isReplySubject: sketch.isReplySubject ?? false,
    series: null,
    datedAt: sketch.at ?? 0,
    contentHash: id,
    evidence: threadEvidence({
      from: [address(sketch.from ?? 'ann@customer.example')],
      recipients: (sketch.to ?? ['support@example.org']).map(address),
      impersonal: ['support@example.org'],
      text: sketch.text ?? '',
      textNew: sketch.textNew ?? sketch.text ?? '',
    }),
  };
}

function together(...messages: ThreadMessage[]): boolean {
  return threadGroups(messages).length === 1;
}

describe('scripts of RFC 5256 threading', () => {
  test.each(['thread2', 'thread3'])('%s agrees', (name) => {
    const { found, expected } = scriptThreads(name);
    expect(found).toEqual(expected);
  });

  test('subject threads agree except that messages without a subject are not one thread', () => {
    const { found, expected } = scriptThreads('thread-orderedsubject');
    expect(found).toEqual(
      sorted([...expected.filter((group) => !group.includes('9')), ['9'], ['10']]),
    );
  });
});

describe('identifiers', () => {
  test('an In-Reply-To counts whatever the subject says', () => {
    const first = message({ id: 'a' });
    expect(together(first, message({ inReplyTo: 'a@x.example', subject: 'Other' }))).toBe(true);
  });

  test('replies to a message that nobody has are one thread', () => {
    expect(
      together(
        message({ references: ['lost@x'], inReplyTo: 'lost@x', subject: 'Re' }),
        message({ references: ['lost@x'], inReplyTo: 'lost@x', subject: 'Re' }),
      ),
    ).toBe(true);
  });

  test('References carried over into a new topic do not count', () => {
    const first = message({ id: 'a' });
    const topic = { references: ['a@x.example'], subject: 'Holiday plan' };
    expect(together(first, message(topic))).toBe(false);
    expect(together(first, message({ ...topic, subject: 'Invoice' }))).toBe(true);
    expect(together(first, message({ ...topic, isReplySubject: true }))).toBe(true);
    expect(together(first, message({ ...topic, subject: 'Holiday (was: Invoice)' }))).toBe(true);
  });

  test('one Outlook thread index and one subject are one thread', () => {
    const index = { threadIndexRoot: 'ab'.repeat(22) };
    expect(together(message(index), message({ ...index, isReplySubject: true }))).toBe(true);
    expect(together(message(index), message({ ...index, subject: 'New' }))).toBe(false);
  });
});

describe('replies that name no message', () => {
  const reply = { isReplySubject: true, at: DAY };

  test('belong to the same correspondent with the same subject', () => {
    expect(together(message({}), message(reply))).toBe(true);
    expect(together(message({}), message({ ...reply, from: 'eve@stranger.example' }))).toBe(false);
    expect(together(message({}), message({ ...reply, subject: 'Offer' }))).toBe(false);
  });

  test('are not attached without a reply mark, nor after 14 days, nor to later mail', () => {
    expect(together(message({}), message({ at: DAY }))).toBe(false);
    expect(together(message({}), message({ ...reply, at: 15 * DAY }))).toBe(false);
    expect(together(message({ at: 2 * DAY }), message(reply))).toBe(false);
  });

  test('go to the newest of several conversations, and do not tie them together', () => {
    const groups = threadGroups([
      message({ id: 'old', at: 0 }),
      message({ id: 'new', at: DAY / 2 }),
      message({ id: 'reply', ...reply }),
    ]);
    expect(sorted(groups)).toEqual([['new', 'reply'], ['old']]);
  });

  test('go to what they quote rather than to what is newest', () => {
    const text = 'The pump on the third floor leaks again since the storm of last night.';
    const groups = threadGroups([
      message({ id: 'old', text }),
      message({ id: 'new', text: 'Please send me the bill of the month of May.', at: DAY / 2 }),
      message({
        id: 'reply',
        ...reply,
        text: `I will come.\n\nAnn wrote:\n> ${text}`,
        textNew: 'I will come.',
      }),
    ]);
    expect(sorted(groups)).toEqual([['new'], ['old', 'reply']]);
  });

  test('without a reply mark need a quotation and the name of who is quoted', () => {
    const text = 'The pump on the third floor leaks again since the storm of last night.';
    const quoting = {
      at: DAY,
      from: 'bob@list.example',
      text: `I will come.\n\nOn Monday, ann@customer.example wrote:\n> ${text}`,
      textNew: 'I will come.',
    };
    const carl = { text, from: 'carl@x.example' };
    expect(together(message({ text }), message(quoting))).toBe(true);
    const short = { ...quoting, text: quoting.text.replace('leaks again', 'leaks\n\nagain') };
    expect(together(message(carl), message(short))).toBe(true);
    const part = { ...quoting, text: 'Yes.\n\n> The pump on the third floor leaks again since' };
    expect(together(message(carl), message(part))).toBe(false);
  });

  test('belong to the subject that they say theirs was', () => {
    const text = 'The pump on the third floor leaks again since the storm of last night.';
    const first = message({ id: 'a', text, subject: 'Pump leaks...' });
    const renamed = { ...reply, isReplySubject: false, subject: 'Roof (was: Re: Pump leaks...)' };
    const second = message({
      ...renamed,
      from: 'bob@x.example',
      text: `> ${text}`,
      textNew: 'Roof',
    });
    expect(together(first, second)).toBe(true);
    expect(
      together(
        first,
        second,
        message({ ...reply, subject: 'Roof', from: 'bob@x.example', at: DAY + 1 }),
      ),
    ).toBe(true);
  });

  test('belong to what they quote the Message-ID of', () => {
    const first = message({ id: 'a', from: 'ann@x.example' });
    const other = { ...reply, from: 'bob@x.example' };
    const naming = 'In message <a@x.example>, Ann said:\n> Yes.';
    expect(together(first, message({ ...other, text: naming, textNew: '' }))).toBe(true);
  });

  test('of strangers who quote one text that was sent to many stay apart', () => {
    const quote = '> Thank you for your order, which we will send as soon as it is ready.';
    const answer = { ...reply, text: `Yes.\n\nThe shop wrote:\n${quote}`, textNew: 'Yes.' };
    const other = { ...answer, from: 'bob@x.example', at: DAY + 1 };
    expect(together(message(answer), message(other))).toBe(false);
    expect(together(message({ ...answer, inReplyTo: 'a@x' }), message(other))).toBe(false);
  });

  test('of an agent go to the customer they are for', () => {
    const agent = 'agent@example.org';
    const groups = threadGroups([
      message({ id: 'ann', from: 'ann@x.example', to: [] }),
      message({ id: 'toBob', from: agent, to: ['bob@x.example'], inReplyTo: 'b@x', at: DAY / 2 }),
      message({ id: 'toAnn', from: agent, to: ['ann@x.example'], ...reply }),
    ]);
    expect(sorted(groups)).toEqual([['ann', 'toAnn'], ['toBob']]);
  });

  test('of a clock in the wrong zone still answer what they quote', () => {
    const text = 'The pump on the third floor leaks again since the storm of last night.';
    const early = { isReplySubject: true, at: 0, from: 'bob@x.example' };
    const quoting = { ...early, text: `ann@customer.example wrote:\n> ${text}`, textNew: '' };
    expect(together(message({ text, at: DAY / 3 }), message(quoting))).toBe(true);
    expect(together(message({ text, at: 2 * DAY }), message(quoting))).toBe(false);
  });
});

/** Small worlds in which ids, subjects, people and days meet often. */
const anyMessage = fc.record({
  own: fc.integer({ min: 0, max: 9 }),
  inReplyTo: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 2 }),
  references: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
  index: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 4 }),
  subject: fc.constantFrom('', 'a', 'b'),
  isReplySubject: fc.boolean(),
  day: fc.integer({ min: 0, max: 20 }),
  from: fc.constantFrom('ann', 'bob', 'eve'),
});

test('the order of arrival does not matter', () => {
  fc.assert(
    fc.property(
      fc.array(anyMessage, { minLength: 2, maxLength: 14 }).chain((list) => {
        const messages = list.map((one, index) =>
          message({
            id: `m${index}`,
            messageId: `${one.own}@x`,
            inReplyTo: one.inReplyTo === null ? null : `${one.inReplyTo}@x`,
            references: one.references.map((id) => `${id}@x`),
            threadIndexRoot: one.index === null ? null : String(one.index).repeat(44),
            subject: one.subject,
            isReplySubject: one.isReplySubject,
            at: one.day * DAY,
            from: `${one.from}@x.example`,
          }),
        );
        return fc.tuple(
          fc.constant(messages),
          fc.shuffledSubarray(messages, { minLength: messages.length }),
        );
      }),
      ([messages, shuffled]) => {
        expect(sorted(threadGroups(shuffled))).toEqual(sorted(threadGroups(messages)));
      },
    ),
    { numRuns: 300 },
  );
});
