import ipaddr from 'ipaddr.js';
import { InvalidError } from '@dak/kernel';
import { allowsAddress, mayAllow, parseAllowance, type Target } from './allowance';

const target = (scheme: 'http' | 'https', host: string, port: number): Target => ({
  scheme,
  host,
  port,
});
const allows = (text: string, to: Target, address: string) =>
  allowsAddress(parseAllowance(text), to, ipaddr.process(address));

describe('an allowance', () => {
  it('lets an address through over HTTP and HTTPS on any port', () => {
    expect(allows('127.0.0.1', target('http', '127.0.0.1', 9), '127.0.0.1')).toBe(true);
    expect(allows('127.0.0.1', target('https', 'localhost', 4711), '127.0.0.1')).toBe(true);
    expect(allows('127.0.0.1', target('http', '127.0.0.2', 9), '127.0.0.2')).toBe(false);
    expect(allows('127.0.0.1', target('http', 'x.example', 9), '::ffff:127.0.0.1')).toBe(true);
  });

  it('lets networks of both families through', () => {
    const text = ' 10.0.0.0/8, fd00::/8 ,[fe80::1]:8080,';
    expect(allows(text, target('http', 'a.example', 80), '10.255.0.1')).toBe(true);
    expect(allows(text, target('http', 'a.example', 80), 'fdff::1')).toBe(true);
    expect(allows(text, target('http', 'a.example', 8080), 'fe80::1')).toBe(true);
    expect(allows(text, target('http', 'a.example', 80), 'fe80::1')).toBe(false);
    expect(allows(text, target('http', 'a.example', 80), '11.0.0.1')).toBe(false);
  });

  it('lets a host through wherever its name leads, and no other host there', () => {
    const text = 'Hooks.Example.com.';
    expect(allows(text, target('http', 'hooks.example.com', 80), '192.168.0.1')).toBe(true);
    expect(allows(text, target('http', 'other.example.com', 80), '192.168.0.1')).toBe(false);
  });

  it('keeps an entry with scheme or port to these', () => {
    const secure = 'https://10.0.0.0/8:8443';
    expect(allows(secure, target('https', 'a.example', 8443), '10.0.0.1')).toBe(true);
    expect(allows(secure, target('https', 'a.example', 443), '10.0.0.1')).toBe(false);
    expect(allows(secure, target('http', 'a.example', 8443), '10.0.0.1')).toBe(false);
    expect(allows('http://localhost', target('http', 'localhost', 80), '127.0.0.1')).toBe(true);
    expect(allows('http://localhost', target('https', 'localhost', 80), '127.0.0.1')).toBe(false);
  });

  it('of a single address is for local names, since no public name leads there', () => {
    const alone = parseAllowance('127.0.0.1');
    expect(mayAllow(alone, target('http', 'localhost', 80))).toBe(true);
    expect(mayAllow(alone, target('http', 'sink', 80))).toBe(true);
    expect(mayAllow(alone, target('http', 'hooks.example.com', 80))).toBe(false);
  });

  it('may let any name through when it has a network, since the name can lead there', () => {
    expect(mayAllow(parseAllowance('10.0.0.0/8'), target('http', 'a.example', 80))).toBe(true);
    expect(mayAllow(parseAllowance('https://10.0.0.0/8'), target('http', 'a.example', 80))).toBe(
      false,
    );
    expect(mayAllow(parseAllowance('b.example'), target('http', 'a.example', 80))).toBe(false);
    expect(mayAllow(parseAllowance(''), target('http', 'a.example', 80))).toBe(false);
  });

  it.each([
    '10.1',
    '10.0.0.0/33',
    'fd00::/129',
    '256.0.0.1',
    'ftp://a.example',
    'a.example/24',
    'a b',
    'user@a.example',
    'a.example:70000',
    'https://',
    '*',
    'https://a.example/path',
  ])('refuses to guess what %j means', (entry) => {
    expect(() => parseAllowance(`127.0.0.1,${entry}`)).toThrow(InvalidError);
  });
});
