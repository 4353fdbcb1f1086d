import {
  DEFAULT_MAILBOX_SETTINGS,
  displayName,
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
  });

  it.each([
    [{ time_zone: 'Nowhere' }, /time_zone/],
    [{ undo_seconds: -1 }, /undo_seconds/],
    [{ business_hours: [{ day: 'mon', from: '18:00', to: '09:00' }] }, /business_hours\.0/],
  ])('refuse %j', (patch, sentence) => {
    expect(() => patchedSettings(DEFAULT_MAILBOX_SETTINGS, patch)).toThrow(sentence);
  });

  it('hold metadata to scalars and 64 keys', () => {
    expect(patchedMetadata({ a: 1, b: 2 }, { a: null, c: 'x' })).toEqual({ b: 2, c: 'x' });
    expect(() => patchedMetadata({}, { a: { b: 1 } })).toThrow(/metadata\.a/);
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1]));
    expect(() => patchedMetadata({}, many)).toThrow(/64 keys/);
  });

  it('cannot reach the prototype', () => {
    patchedMetadata({}, JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('displayName', () => {
  it('is one line', () => {
    expect(displayName('  Support Team ')).toBe('Support Team');
    expect(displayName('')).toBeNull();
    expect(() => displayName('a\r\nBcc: x')).toThrow(/line breaks/);
  });
});
