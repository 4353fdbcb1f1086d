import { domainOf, ownableDomain } from './domain-name';

describe('the name of a domain', () => {
  it.each([
    ['Customer.Example', 'customer.example'],
    ['customer.example.', 'customer.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['1-a.co.uk', '1-a.co.uk'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('%s is %s', (text, name) => {
    expect(ownableDomain('name', text)).toBe(name);
  });

  it.each([
    'com',
    'com.',
    '',
    '.',
    'customer..example',
    'customer.example..',
    '-a.example',
    'a-.example',
    'a_b.example',
    'a b.example',
    'a@b.example',
    'user@customer.example',
    'https://customer.example',
    'customer.example/path',
    '*.customer.example',
    '127.0.0.1',
    '[::1]',
    '0x7f.1',
    `${'a'.repeat(64)}.example`,
    `${'abcdefghi.'.repeat(24)}example`,
    'customer.example?x',
    'customer.example#x',
    'customer%2eexample',
    'customer.example\u0000',
  ])('%j is none', (text) => {
    expect(() => ownableDomain('name', text)).toThrow(/^name /);
  });

  it('is the part of an address after the last @', () => {
    expect(domainOf('support+x@customer.example')).toBe('customer.example');
  });
});
