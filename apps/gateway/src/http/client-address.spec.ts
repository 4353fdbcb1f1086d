import type { IncomingMessage } from 'node:http';
import { clientAddressReader } from './client-address';

const PROXIES = ['10.0.0.0/8', '2001:db8:ffff::/48', '127.0.0.1'];

describe('the address of a client', () => {
  const seen = (
    peer: string,
    headers: Record<string, string>,
    trusted: readonly string[] = PROXIES,
  ): string =>
    clientAddressReader(trusted)({
      socket: { remoteAddress: peer },
      headers,
    } as unknown as IncomingMessage);
  const byForwardedFor = (text: string) => seen('10.0.0.1', { 'x-forwarded-for': text });
  const byForwarded = (text: string) => seen('10.0.0.1', { forwarded: text });

  it('is that of the socket without trusted proxies, whatever the headers say', () => {
    const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' };
    expect(seen('198.51.100.7', headers, [])).toBe('198.51.100.7');
    expect(seen('198.51.100.7', headers)).toBe('198.51.100.7');
    expect(seen('::ffff:198.51.100.7', headers)).toBe('198.51.100.7');
  });

  it('is the nearest hop that is no trusted proxy', () => {
    expect(byForwardedFor('192.0.2.1')).toBe('192.0.2.1');
    expect(byForwardedFor('203.0.113.9, 192.0.2.1')).toBe('192.0.2.1');
    expect(byForwardedFor('203.0.113.9, 192.0.2.1, 10.1.2.3, 127.0.0.1')).toBe('192.0.2.1');
    expect(byForwardedFor('203.0.113.9,192.0.2.1:4711 ,10.1.2.3:80')).toBe('192.0.2.1');
    expect(byForwardedFor('[2001:db8::7]:443, 2001:db8:ffff::1')).toBe('2001:db8::7');
    expect(byForwardedFor('2001:db8::7')).toBe('2001:db8::7');
    expect(byForwardedFor('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(seen('::ffff:127.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).toBe('192.0.2.1');
  });

  it('is the outermost proxy when all hops are trusted', () => {
    expect(byForwardedFor('10.9.9.9, 10.1.2.3')).toBe('10.9.9.9');
  });

  it('reads Forwarded with quotes, brackets, ports and other parameters', () => {
    expect(byForwarded('for=192.0.2.1;proto=https;by=10.0.0.1')).toBe('192.0.2.1');
    expect(byForwarded('For="192.0.2.1:4711"')).toBe('192.0.2.1');
    expect(byForwarded('for=203.0.113.9, for="[2001:db8::7]:443";host="a, b\\"c"')).toBe(
      '2001:db8::7',
    );
    expect(byForwarded('for="[2001:db8::7]" , for=10.1.2.3')).toBe('2001:db8::7');
    expect(byForwarded('proto=https;for=192.0.2.1, for="[2001:db8:ffff::1]"')).toBe('192.0.2.1');
  });

  it('goes no further than an identifier that is no address', () => {
    expect(byForwarded('for=192.0.2.1, for=unknown, for=10.1.2.3')).toBe('10.1.2.3');
    expect(byForwarded('for=192.0.2.1, for=_hidden')).toBe('10.0.0.1');
    expect(byForwarded('for=192.0.2.1, proto=http')).toBe('10.0.0.1');
    expect(byForwardedFor('192.0.2.1, unknown, 10.1.2.3')).toBe('10.1.2.3');
    for (const garbage of [
      '',
      ',',
      ' , ,',
      'x',
      '1.2.3',
      '1.2.3.4.5',
      '[::1',
      '::1]',
      '[1.2.3.4]',
    ]) {
      expect(byForwardedFor(`192.0.2.1,${garbage}`)).toBe('10.0.0.1');
    }
    expect(byForwardedFor('fe80::1%eth0')).toBe('10.0.0.1');
  });

  it('is the proxy when Forwarded is malformed: a quote may have swallowed what the proxy added', () => {
    for (const garbage of [
      'for="192.0.2.1, for=198.51.100.7',
      'for="192.0.2.1, for="[2001:db8::7]:1"',
      'for',
      'for=',
      '=;,"',
      'for=192.0.2.1 198.51.100.7',
      'for=[2001:db8::7]',
    ]) {
      expect([garbage, byForwarded(garbage)]).toEqual([garbage, '10.0.0.1']);
    }
  });

  it('is the proxy when the two headers disagree, of which a client may have sent one', () => {
    const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=198.51.100.7' };
    expect(seen('10.0.0.1', headers)).toBe('10.0.0.1');
    expect(seen('10.0.0.1', { ...headers, forwarded: 'for=192.0.2.1' })).toBe('192.0.2.1');
  });

  it('is found in long headers at once', () => {
    const begun = performance.now();
    byForwarded('for="\\"\\"\\"'.repeat(2_000));
    byForwarded(`${'for=10.0.0.1,'.repeat(2_000)}for=10.0.0.1`);
    byForwardedFor('10.0.0.1,'.repeat(2_000));
    expect(performance.now() - begun).toBeLessThan(500);
  });
});
