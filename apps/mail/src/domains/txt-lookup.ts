import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { TxtAnswer } from './domain';

/** Milliseconds for one server, and for all of them together. */
const SERVER_TIMEOUT_MS = 1500;
const TOTAL_TIMEOUT_MS = 5000;
/** Codes for no record: NXDOMAIN, and a name without TXT records. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Queries TXT records without any local cache; takes at most five seconds.
 * @param servers `DAK_DNS_SERVERS`: a comma list of host:port, `off`, or undefined for those of the system
 */
export function createTxtLookup(servers: string | undefined): (name: string) => Promise<TxtAnswer> {
  if (servers === 'off') return () => Promise.resolve({ kind: 'failed' });
  return async (name) => {
    const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: 2 });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<TxtAnswer>((resolve) => {
      timer = setTimeout(() => {
        resolver.cancel();
        resolve({ kind: 'failed' });
      }, TOTAL_TIMEOUT_MS);
    });
    try {
      return await Promise.race([ask(resolver, servers, name), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function ask(
  resolver: Resolver,
  servers: string | undefined,
  name: string,
): Promise<TxtAnswer> {
  try {
    if (servers !== undefined) {
      resolver.setServers(await Promise.all(servers.split(',').map(addressOf)));
    }
    const records = await resolver.resolveTxt(name);
    // A long value comes in pieces of 255 octets (RFC 7208 §3.3 joins them the same way).
    return { kind: 'records', values: records.map((pieces) => pieces.join('')) };
  } catch (error) {
    return { kind: NOTHING.has(codeOf(error)) ? 'none' : 'failed' };
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** The resolver takes addresses only. */
async function addressOf(server: string): Promise<string> {
  const colon = server.lastIndexOf(':');
  const host = server.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  const address = isIP(host) === 0 ? (await lookup(host)).address : host;
  const shown = isIP(address) === 6 ? `[${address}]` : address;
  return `${shown}:${server.slice(colon + 1)}`;
}
