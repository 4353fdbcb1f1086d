import { redate } from '../outbox/redate';
import { assembleBody } from './assemble-body';
import type { Quote } from './quote';
import { replyRecipients, type AnsweredMessage } from './reply-recipients';
import { replyReferences } from './reply-references';
import { forwardSubject, replySubject } from './subject-prefix';

const person = (email: string, name = '') => ({ email, name });
const nobody = { to: [], cc: [], bcc: [] };
const isOwn = (email: string) => email === 'desk@us.example';

function answered(overrides: Partial<AnsweredMessage> = {}): AnsweredMessage {
  return {
    direction: 'inbound',
    from: person('meera@customer.example', 'Meera'),
    replyTo: [],
    to: [person('desk@us.example'), person('other@us.example')],
    cc: [person('boss@customer.example')],
    followupTo: [],
    ...overrides,
  };
}

const emails = (list: readonly { email: string }[]) => list.map(({ email }) => email);

describe('who gets an answer', () => {
  it('the author, or whoever Reply-To names', () => {
    expect(emails(replyRecipients('sender', answered(), nobody, isOwn).to)).toEqual([
      'meera@customer.example',
    ]);
    const replyTo = [person('orders@customer.example')];
    expect(emails(replyRecipients('sender', answered({ replyTo }), nobody, isOwn).to)).toEqual([
      'orders@customer.example',
    ]);
  });

  it('not ourselves, even when Reply-To says so', () => {
    const replyTo = [person('desk@us.example')];
    expect(emails(replyRecipients('sender', answered({ replyTo }), nobody, isOwn).to)).toEqual([
      'meera@customer.example',
    ]);
    const from = person('desk@us.example');
    expect(emails(replyRecipients('sender', answered({ from }), nobody, isOwn).to)).toEqual([
      'desk@us.example',
    ]);
  });

  it('with "all", everybody but ourselves, and those added', () => {
    const { to, cc, bcc } = replyRecipients(
      'all',
      answered(),
      { to: [], cc: [person('new@x.example')], bcc: [person('quiet@x.example')] },
      isOwn,
    );
    expect(emails(to)).toEqual(['meera@customer.example']);
    expect(emails(cc)).toEqual(['other@us.example', 'boss@customer.example', 'new@x.example']);
    expect(emails(bcc)).toEqual(['quiet@x.example']);
  });

  it('with "all", those of Mail-Followup-To instead where it is set', () => {
    const followupTo = [person('list@lists.example'), person('desk@us.example')];
    const { to, cc } = replyRecipients('all', answered({ followupTo }), nobody, isOwn);
    expect(emails(to)).toEqual(['list@lists.example']);
    expect(cc).toEqual([]);
  });

  it('after our own mail, the same people again', () => {
    const ours = answered({
      direction: 'outbound',
      from: person('desk@us.example'),
      to: [person('meera@customer.example')],
    });
    expect(emails(replyRecipients('sender', ours, nobody, isOwn).to)).toEqual([
      'meera@customer.example',
    ]);
    expect(emails(replyRecipients('all', ours, nobody, isOwn).cc)).toEqual([
      'boss@customer.example',
    ]);
  });

  it('exactly those given with "custom", and to only then', () => {
    const extra = { to: [person('x@x.example')], cc: [], bcc: [] };
    expect(replyRecipients('custom', answered(), extra, isOwn)).toBe(extra);
    expect(() => replyRecipients('custom', answered(), nobody, isOwn)).toThrow('to is empty');
    expect(() => replyRecipients('sender', answered(), extra, isOwn)).toThrow('reply_mode');
    expect(() => replyRecipients('all', null, nobody, isOwn)).toThrow('custom');
  });
});

it.each([
  ['Order', 'Re: Order'],
  ['Re: Order', 'Re: Order'],
  ['RE: AW: Re[2]: Sv：Order', 'Re: Order'],
  ['[desk] Re: Order', 'Re: [desk] Order'],
  ['Re: [desk] AW: Order', 'Re: [desk] Order'],
  ['Fwd: Order', 'Re: Fwd: Order'],
  ['Regarding: Order', 'Re: Regarding: Order'],
  ['', 'Re:'],
])('answers %j as %j', (subject, expected) => {
  expect(replySubject(subject)).toBe(expected);
});

it('forwards once', () => {
  expect(forwardSubject('WG: Fwd: Order')).toBe('Fwd: Order');
  expect(forwardSubject('Re: Order')).toBe('Fwd: Re: Order');
});

describe('thread headers', () => {
  it('continue the chain', () => {
    expect(
      replyReferences({ messageId: 'c@x', inReplyTo: 'b@x', references: ['a@x', 'b@x'] }),
    ).toEqual({
      inReplyTo: 'c@x',
      references: ['a@x', 'b@x', 'c@x'],
    });
  });
  it('begin with In-Reply-To where the parent has no References', () => {
    expect(
      replyReferences({ messageId: 'c@x', inReplyTo: 'b@x', references: [] }).references,
    ).toEqual(['b@x', 'c@x']);
  });
  it('keep the first id and the last twenty of a long chain', () => {
    const chain = Array.from({ length: 100 }, (_, index) => `${index}@x`);
    const { references } = replyReferences({
      messageId: 'last@x',
      inReplyTo: null,
      references: chain,
    });
    expect(references).toHaveLength(21);
    expect(references[0]).toBe('0@x');
    expect(references.slice(-2)).toEqual(['99@x', 'last@x']);
  });
  it('repeat nothing that could end a line or an id, and nothing twice', () => {
    expect(
      replyReferences({
        messageId: 'c@x',
        inReplyTo: null,
        references: ['a@x', 'b\r\nBcc: y', 'c@x', 'd> <e', 'a@x'],
      }),
    ).toEqual({ inReplyTo: 'c@x', references: ['a@x', 'c@x'] });
  });
});

describe('the body', () => {
  const signature = { bodyText: 'Desk', bodyHtml: '' };
  const quote: Quote = {
    kind: 'reply',
    from: person('meera@customer.example', 'Meera'),
    to: [],
    cc: [],
    subject: 'Order',
    date: '2026-11-21T11:05:00.000Z',
    text: 'Where is it?\n> older',
    html: null,
  };
  const parts = {
    bodyText: 'Soon.',
    bodyHtml: null,
    signature: null,
    signaturePosition: 'above_quote' as const,
    quote: null,
  };

  it('is text where only text was written', () => {
    expect(assembleBody(parts)).toEqual({ text: 'Soon.', html: null });
  });
  it('has text beside HTML, with the addresses of links', () => {
    const { text, html } = assembleBody({
      ...parts,
      bodyText: null,
      bodyHtml: '<h1>Hi</h1><p>See <a href="https://x.example/a">this</a></p>',
    });
    expect(text).toBe('Hi\n\nSee this [https://x.example/a]');
    expect(html).toContain('<h1>Hi</h1>');
  });
  it('puts the signature above the quote, or at the end', () => {
    expect(assembleBody({ ...parts, signature, quote }).text).toBe(
      'Soon.\n\n-- \nDesk\n\nOn 2026-11-21 11:05 UTC, Meera <meera@customer.example> wrote:\n> Where is it?\n>> older',
    );
    expect(assembleBody({ ...parts, signature, quote, signaturePosition: 'end' }).text).toMatch(
      /> older\n\n-- \nDesk$/,
    );
  });
  it('escapes what was plain text in HTML', () => {
    const { html } = assembleBody({
      ...parts,
      bodyHtml: '<p>Soon</p>',
      signature: { bodyText: 'A & <b>', bodyHtml: '' },
      quote: { ...quote, text: '<script>x</script>' },
    });
    expect(html).toContain('A &amp; &lt;b&gt;');
    expect(html).toContain('<blockquote type="cite">&lt;script&gt;x&lt;/script&gt;</blockquote>');
  });
});

it('changes the Date of a message and nothing else', () => {
  const raw = Buffer.from(
    'Subject: x\r\nDate: Sat, 21 Nov 2026 11:00:00 +0000\r\nTo: a@b\r\n\r\nDate: body\r\n',
  );
  expect(redate(raw, new Date('2027-01-02T03:04:05Z')).toString()).toBe(
    'Subject: x\r\nDate: Sat, 02 Jan 2027 03:04:05 +0000\r\nTo: a@b\r\n\r\nDate: body\r\n',
  );
});
