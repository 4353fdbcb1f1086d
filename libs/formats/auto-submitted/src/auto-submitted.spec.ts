import { automationSignals } from './auto-submitted';

const signals = (...lines: string[]) =>
  automationSignals(
    ['From: anna@example.org', ...lines].map((line) => {
      const colon = line.indexOf(':');
      return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() };
    }),
  );

describe('automationSignals', () => {
  it('sees a person where nothing speaks of a machine', () => {
    expect(signals('Subject: Automatic gate is broken', 'Auto-Submitted: no')).toEqual({
      autoSubmitted: null,
      list: null,
      doNotAutoReply: false,
    });
  });

  it.each([
    ['Auto-Submitted: auto-replied', 'auto-replied'],
    ['Auto-Submitted: Auto-Replied (vacation)', 'auto-replied'],
    ['Auto-Submitted: auto-generated; type=time', 'auto-generated'],
    ['Auto-Submitted: auto-notified; owner-email="a@b.c"', 'auto-notified'],
    ['X-Autoreply: yes', 'auto-replied'],
    ['Precedence: auto_reply', 'auto-replied'],
    ['Subject: Automatic reply: Your order', 'auto-replied'],
    ['Subject: Réponse automatique : Commande', 'auto-replied'],
    ['Subject: स्वचालित उत्तर: आदेश', 'auto-replied'],
  ])('takes %j for %s', (header, expected) => {
    expect(signals(header)).toMatchObject({ autoSubmitted: expected, doNotAutoReply: true });
  });

  it('takes X-Auto-Response-Suppress as a wish for silence and not as a sign of a machine', () => {
    expect(signals('X-Auto-Response-Suppress: DR, OOF, AutoReply')).toEqual({
      autoSubmitted: null,
      list: null,
      doNotAutoReply: true,
    });
    expect(signals('X-Auto-Response-Suppress: RN, NRN').doNotAutoReply).toBe(false);
  });

  it('reads what a list says of itself', () => {
    expect(
      signals(
        'List-Id: Dev talk <Dev.Lists.example.org>',
        'List-Post: <mailto:dev@lists.example.org>',
        'List-Unsubscribe: <mailto:leave@lists.example.org>',
      ),
    ).toEqual({
      autoSubmitted: null,
      list: { id: 'dev.lists.example.org', posting: true, unsubscribe: true },
      doNotAutoReply: true,
    });
    expect(signals('List-Post: NO', 'Precedence: bulk').list).toEqual({
      id: null,
      posting: false,
      unsubscribe: false,
    });
  });

  it.each([
    'Return-Path: <>',
    'Reply-To: No-Reply <no-reply@example.org>',
    'Reply-To: MAILER-DAEMON@example.org',
    'Auto-Submitted: something-new',
  ])('does not answer %j', (header) => {
    expect(signals(header).doNotAutoReply).toBe(true);
  });
});
