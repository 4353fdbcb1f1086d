import {
  DEFAULT_MAILBOX_SETTINGS,
  mailboxAddress,
  patchedMetadata,
  patchedSettings,
} from './mailbox';

describe('mailboxAddress', () => {
  it.each([
    ['Support@Example.ORG', 'support@example.org'],
    ["o'brien+x@a-b.example", "o'brien+x@a-b.example"],
    ['hilfe@bücher.example', 'hilfe@xn--bcher-kva.example'],
    [`${'a'.repeat(64)}@example.org`, `${'a'.repeat(64)}@example.org`],
  ])('takes %s', (text, address) => {
    expect(mailboxAddress(text)).toBe(address);
  });

  it.each([
    'plain',
    '@example.org',
    'a@',
    'a@@example.org',
    'a b@example.org',
    '.a@example.org',
    'a..b@example.org',
    'a@-x.example',
    'a@x..example',
    `${'a'.repeat(65)}@example.org`,
    'a@example.org\r\nBcc: x@y.example',
    `a@${`${'b'.repeat(60)}.`.repeat(5)}example`,
  ])('refuses %j', (text) => {
    expect(() => mailboxAddress(text)).toThrow(/^address must/);
  });
});

describe('merge patches', () => {
  it('put a setting back to its default with null, and keep the others', () => {
    const changed = patchedSettings(DEFAULT_MAILBOX_SETTINGS, {
      undo_seconds: 30,
      auto_reply: { subject: 'Away' },
    });
    expect(changed.auto_reply).toEqual({ ...DEFAULT_MAILBOX_SETTINGS.auto_reply, subject: 'Away' });
    expect(patchedSettings(changed, { undo_seconds: null }).undo_seconds).toBe(10);
    const { auto_reply } = patchedSettings(changed, { auto_reply: { start_at: null } });
    expect(auto_reply).toEqual(changed.auto_reply);
    expect(patchedSettings(changed, { auto_reply: null }).auto_reply.subject).toBe('');
  });

  it('hold metadata to 64 keys', () => {
    expect(patchedMetadata({ a: 1, b: 2 }, { a: null, c: 'x' })).toEqual({ b: 2, c: 'x' });
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1]));
    expect(() => patchedMetadata({}, many)).toThrow(/64 keys/);
  });

  it('cannot reach the prototype', () => {
    patchedMetadata({}, JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
