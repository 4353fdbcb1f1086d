import { InvalidError } from '@dak/kernel';
import { createTransport, parseRelayUrl } from './create-transport';

const parse = (url: string) => parseRelayUrl(url, 'dak.test');

describe('the URL of a relay', () => {
  it.each([
    ['smtp://relay.example', 'opportunistic', 25],
    ['smtp://user:secret@relay.example', 'required', 587],
    ['smtp://user:secret@relay.example:2525?tls=required', 'required', 2525],
    ['smtps://user:secret@relay.example', 'implicit', 465],
    ['smtp://user:secret@relay.example?tls=implicit', 'implicit', 465],
    ['smtp://user:secret@10.0.0.7', 'required', 587],
    ['smtp://user:secret@127.0.0.1:2525', 'opportunistic', 2525],
    ['smtp://user:secret@[::1]', 'opportunistic', 587],
    ['smtp://user:secret@localhost?tls=none', 'none', 587],
  ])('%s means TLS %s on port %i', (url, tls, port) => {
    expect(parse(url)).toMatchObject({ tls, port });
  });

  it.each([
    'smtp://user:secret@relay.example?tls=opportunistic',
    'smtp://user:secret@relay.example?tls=none',
    'smtps://user:secret@relay.example?tls=none',
    'smtp://:secret@relay.example?tls=none',
    'smtp://user@relay.example?tls=opportunistic',
    'smtp://user:secret@10.0.0.7?tls=none',
    'smtp://user:secret@127.0.0.1.evil.example?tls=none',
    'smtp://user:secret@localhost.evil.example?tls=opportunistic',
  ])('%s is refused: it would show the password to whoever answers', (url) => {
    expect(() => createTransport(url, 'dak.test')).toThrow(InvalidError);
    expect(() => createTransport(url, 'dak.test')).toThrow(/smtps:\/\/ or tls=required/);
    expect(() => createTransport(url, 'dak.test')).not.toThrow(/secret/);
  });

  it('lets a password leave without TLS on this machine alone', () => {
    expect(parse('smtp://user:secret@127.0.0.1').allowPlaintextAuth).toBe(true);
    expect(parse('smtp://user:secret@relay.example').allowPlaintextAuth).toBe(false);
  });

  it('ends sessions that have no credentials as before', () => {
    expect(parse('smtp://relay.example?tls=none')).toMatchObject({ tls: 'none' });
    expect(parse('smtp://relay.example').credentials).toBeUndefined();
  });
});
