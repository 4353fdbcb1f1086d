import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { allowsAddress, hostOf, mayAllow, type Allowance, type Target } from './allowance';

/** Ports of public servers that may be addressed; an allowance can name others. */
export const PUBLIC_PORTS: readonly number[] = [443, 8443];

const MAX_URL_LENGTH = 2048;

export type UrlJudgment =
  | { readonly allowed: true; readonly url: URL; readonly target: Target }
  | {
      readonly allowed: false;
      readonly code: 'invalid_url' | 'blocked_address';
      /** Goes on from the name of the field: "must …". */
      readonly reason: string;
    };

/**
 * Whether requests may go to a URL, as far as can be decided without resolving its name: whatever the
 * name resolves to is judged at every connection, since answers change.
 */
export function judgeUrl(text: string, allowance: Allowance): UrlJudgment {
  if (text.length > MAX_URL_LENGTH) {
    return invalid(`must have at most ${MAX_URL_LENGTH} characters`);
  }
  if (!URL.canParse(text)) {
    return invalid('must be an absolute URL such as https://hooks.example.com/dak');
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return invalid('must begin with https://');
  if (url.username !== '' || url.password !== '') {
    return invalid('must not contain a user name or password: send a custom header instead');
  }
  if (url.hash !== '') return invalid('must not have a fragment: it is never sent');
  const target = targetOf(url);
  const reason =
    isIP(target.host) !== 0
      ? refusalOfAddress(target, target.host, allowance)
      : refusalOfName(target, allowance);
  if (reason !== null) return { allowed: false, code: 'blocked_address', reason };
  return { allowed: true, url, target };
}

/**
 * Why this address of the target must not be connected to; null when it may.
 * @param address as the resolver or the socket gives it; anything that is no address is refused
 */
export function refusalOfAddress(
  target: Target,
  address: string,
  allowance: Allowance,
): string | null {
  if (isIP(address) === 0) return 'must have a host that resolves to an address';
  // Scoped addresses (fe80::1%eth0) parse as link-local; IPv4-mapped ones count as what they map to.
  const parsed = ipaddr.process(address);
  if (allowsAddress(allowance, target, parsed)) return null;
  const range = parsed.range();
  if (range !== 'unicast') {
    // Internal addresses of a name must not be disclosed.
    const found =
      isIP(target.host) === 0 ? `${target.host} does not` : `${parsed.toString()} is not one`;
    return `must lead to a public address, and ${found} (${wordsOf(range)}); an operator can allow it with DAK_WEBHOOK_ALLOW`;
  }
  return refusalOfPublic(target);
}

function refusalOfName(target: Target, allowance: Allowance): string | null {
  if (mayAllow(allowance, target)) return null;
  if (target.host === 'localhost' || target.host.endsWith('.localhost')) {
    return 'must lead to a public address, and localhost is not one; an operator can allow it with DAK_WEBHOOK_ALLOW';
  }
  return refusalOfPublic(target);
}

function refusalOfPublic(target: Target): string | null {
  if (target.scheme !== 'https') {
    return 'must begin with https://; an operator can allow plain HTTP for a host with DAK_WEBHOOK_ALLOW';
  }
  if (!PUBLIC_PORTS.includes(target.port)) {
    return `must use port ${PUBLIC_PORTS.join(' or ')}; an operator can allow others for a host with DAK_WEBHOOK_ALLOW`;
  }
  return null;
}

function targetOf(url: URL): Target {
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  return { scheme, host: hostOf(url), port };
}

function invalid(reason: string): UrlJudgment {
  return { allowed: false, code: 'invalid_url', reason };
}

/** `uniqueLocal` → `unique local`. */
function wordsOf(range: string): string {
  return range.replace(
    /([a-z])([A-Z0-9])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  );
}
