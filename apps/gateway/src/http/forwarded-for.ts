import { isIP, isIPv6 } from 'node:net';

/** One hop as a proxy wrote it down: an address without port, or null for whatever is none. */
export type Hop = string | null;

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** X-Forwarded-For: a comma list, the nearest hop last; addresses may come with a port. */
export function parseForwardedFor(header: string): Hop[] {
  return header.split(',').map((entry) => addressOf(entry.trim()));
}

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;

/**
 * The `for` parameters of Forwarded (RFC 7239 §4), the nearest hop last; null when the header is malformed, because then
 * a quote that a client opened could swallow a proxy's addition.
 */
export function parseForwarded(header: string): Hop[] | null {
  const hops: Hop[] = [];
  let hop: Hop = null;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  for (;;) {
    take(SPACES);
    const name = take(TOKEN)?.[0];
    if (name !== undefined) {
      if (header[at] !== '=') return null;
      at += 1;
      const value = take(QUOTED)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? take(TOKEN)?.[0];
      if (value === undefined) return null;
      if (name.toLowerCase() === 'for') hop = addressOf(value);
      take(SPACES);
    }
    const separator = header[at];
    if (separator === ',' || separator === undefined) {
      hops.push(hop);
      hop = null;
    } else if (separator !== ';') return null;
    if (separator === undefined) return hops;
    at += 1;
  }
}

const SPACES = /[ \t]*/y;

/** `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1` or `[2001:db8::1]:80`; "unknown" and `_names` (RFC 7239 §6) are no address. */
function addressOf(node: string): Hop {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(node)?.[1];
  const address = bracketed ?? /^([\d.]+):\d{1,5}$/.exec(node)?.[1] ?? node;
  const isAddress = bracketed === undefined ? isIP(address) !== 0 : isIPv6(address);
  return isAddress && !address.includes('%') ? plainAddress(address) : null;
}

/** IPv4 in its own form, also where a socket of both families shows it as `::ffff:1.2.3.4`. */
export function plainAddress(address: string): string {
  return MAPPED_IPV4.exec(address)?.[1] ?? address;
}
