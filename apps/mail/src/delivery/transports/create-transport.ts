import { isIP } from 'node:net';
import { InvalidError } from '@dak/kernel';
import type { SmtpEndpoint, SmtpTlsMode } from '@dak/platform/smtp-client';
import { createCaptureTransport } from './capture-transport';
import { createDirectTransport } from './direct-transport';
import { createRelayTransport } from './relay-transport';
import type { Transport } from './transport';

const TLS_MODES: readonly SmtpTlsMode[] = ['none', 'opportunistic', 'required', 'implicit'];

/**
 * The transport that a setting names: `capture`, `direct`, or a relay as
 * `smtp://user:password@host:port?tls=none|opportunistic|required|implicit` (`smtps:` is implicit TLS).
 * A password goes to a host whose certificate was checked, or to this machine.
 * @param localName Our name in EHLO.
 * @throws InvalidError when the setting is none of them, or would show the password to whoever answers
 */
export function createTransport(setting: string, localName: string): Transport {
  if (setting === 'capture') return createCaptureTransport();
  if (setting === 'direct') return createDirectTransport({ localName });
  return createRelayTransport({ endpoint: parseRelayUrl(setting, localName) });
}

/** @throws InvalidError */
export function parseRelayUrl(text: string, localName: string): SmtpEndpoint {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isKnown = url?.protocol === 'smtp:' || url?.protocol === 'smtps:';
  if (url === null || !isKnown || url.hostname === '') {
    throw new InvalidError(
      'The mail transport must be capture, direct or smtp://user:password@host:port.',
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  const isHere = isLoopback(host);
  const hasCredentials = user !== '' || password !== '';
  const asked = url.searchParams.get('tls');
  const tls = asked === null ? usualMode(url, hasCredentials && !isHere) : modeOf(asked);
  if (hasCredentials && !isHere && tls !== 'required' && tls !== 'implicit') {
    throw new InvalidError(
      `The mail transport must not send its password to ${host} with tls=${tls}: write smtps:// or tls=required, which check the certificate.`,
      'unverified_relay',
    );
  }
  return {
    protocol: 'smtp',
    host,
    port: url.port === '' ? (tls === 'implicit' ? 465 : user === '' ? 25 : 587) : Number(url.port),
    tls,
    localName,
    ...(hasCredentials ? { credentials: { user, password }, allowPlaintextAuth: isHere } : {}),
  };
}

function usualMode(url: URL, needsTls: boolean): SmtpTlsMode {
  if (url.protocol === 'smtps:') return 'implicit';
  return needsTls ? 'required' : 'opportunistic';
}

/** Names that cannot lead elsewhere; what another name resolves to may change. */
function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost' || host.endsWith('.localhost');
}

function modeOf(text: string): SmtpTlsMode {
  const mode = TLS_MODES.find((name) => name === text);
  if (mode === undefined) {
    throw new InvalidError(`tls of the mail transport must be one of ${TLS_MODES.join(', ')}.`);
  }
  return mode;
}
