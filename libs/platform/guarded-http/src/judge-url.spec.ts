import fc from 'fast-check';
import { NO_ALLOWANCE, parseAllowance } from './allowance';
import { judgeUrl, refusalOfAddress } from './judge-url';

const judge = (url: string, allow = '') => judgeUrl(url, parseAllowance(allow));
const reasonOf = (url: string, allow = ''): string => {
  const judgment = judge(url, allow);
  return judgment.allowed ? 'allowed' : judgment.reason;
};

describe('judgeUrl', () => {
  it.each([
    'https://hooks.example.com/a?b=c',
    'https://hooks.example.com:8443/',
    'https://198.41.0.4/',
    'https://[2001:500:2::c]/',
    'https://bücher.example/',
  ])('accepts %s', (url) => {
    expect(judge(url)).toMatchObject({ allowed: true });
  });

  it.each([
    ['', 'absolute URL'],
    ['/hooks', 'absolute URL'],
    ['ftp://example.com/', 'begin with https://'],
    ['file:///etc/passwd', 'begin with https://'],
    ['javascript:alert(1)', 'begin with https://'],
    ['https://user@example.com/', 'user name'],
    ['https://user:secret@example.com/', 'user name'],
    ['https://example.com/#top', 'fragment'],
    [`https://example.com/${'a'.repeat(2048)}`, '2048 characters'],
  ])('refuses %j for what it is: %s', (url, reason) => {
    expect(judge(url)).toMatchObject({ allowed: false, code: 'invalid_url' });
    expect(reasonOf(url)).toContain(reason);
  });

  it.each([
    ['http://hooks.example.com/', 'begin with https://'],
    ['https://hooks.example.com:25/', 'port 443 or 8443'],
    ['https://198.41.0.4:6379/', 'port 443 or 8443'],
    ['https://localhost/', 'localhost'],
    ['https://LOCALHOST./', 'localhost'],
    ['https://a.localhost/', 'localhost'],
  ])('refuses %s: %s', (url, reason) => {
    expect(judge(url)).toMatchObject({ allowed: false, code: 'blocked_address' });
    expect(reasonOf(url)).toContain(reason);
  });

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://10.0.0.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://172.16.0.1/',
    'https://192.168.0.1/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001::1]/',
    'https://[100::1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
  ])('refuses the special address in %s', (url) => {
    expect(judge(url)).toMatchObject({ allowed: false, code: 'blocked_address' });
    expect(reasonOf(url)).toContain('public address');
  });

  it('follows the allowance of the operator', () => {
    expect(judge('http://127.0.0.1:4711/', '127.0.0.1')).toMatchObject({ allowed: true });
    expect(judge('https://127.0.0.1/', '127.0.0.1')).toMatchObject({ allowed: true });
    expect(judge('http://127.0.0.1/', 'https://127.0.0.1')).toMatchObject({ allowed: false });
    expect(judge('http://hooks.corp.example:99/', 'hooks.corp.example')).toMatchObject({
      allowed: true,
    });
    expect(judge('http://localhost:99/', '127.0.0.0/8')).toMatchObject({ allowed: true });
    expect(judge('http://localhost:99/', '127.0.0.1')).toMatchObject({ allowed: true });
    expect(judge('http://hooks.example.com/', '127.0.0.1')).toMatchObject({ allowed: false });
    expect(judge('https://hooks.example.com:99/', '127.0.0.1')).toMatchObject({ allowed: false });
    expect(judge('http://[::1]/', '127.0.0.1')).toMatchObject({ allowed: false });
  });
});

describe('refusalOfAddress', () => {
  const target = { scheme: 'https', host: 'hooks.example.com', port: 443 } as const;

  it('fails closed for what is no address', () => {
    for (const text of ['', 'localhost', '1.2.3', 'fe80::1%eth0']) {
      expect(refusalOfAddress(target, text, NO_ALLOWANCE)).not.toBeNull();
    }
  });

  it('does not tell what a name resolves to', () => {
    const reason = refusalOfAddress(target, '10.20.30.40', NO_ALLOWANCE);
    expect(reason).toContain('hooks.example.com does not (private)');
    expect(reason).not.toContain('10.20.30.40');
  });

  it('judges an IPv4 address and its IPv6 mapping alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const isRefused = (text: string) => refusalOfAddress(target, text, NO_ALLOWANCE) !== null;
        expect(isRefused(`::ffff:${address}`)).toBe(isRefused(address));
      }),
    );
  });

  it('refuses everything within 127.0.0.0/8, 10.0.0.0/8 and fc00::/7', () => {
    const octet = fc.nat(255);
    fc.assert(
      fc.property(octet, octet, octet, (b, c, d) => {
        for (const text of [
          `127.${b}.${c}.${d}`,
          `10.${b}.${c}.${d}`,
          `fd${b.toString(16).padStart(2, '0')}::${c}`,
        ]) {
          expect(refusalOfAddress(target, text, NO_ALLOWANCE)).toContain('public address');
        }
      }),
    );
  });
});
