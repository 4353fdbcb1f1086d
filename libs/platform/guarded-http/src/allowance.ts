import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { InvalidError } from '@dak/kernel';

type Scheme = 'http' | 'https';
type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** One entry of an allowance: a host by its name, or a network. Null = any. */
interface AllowanceEntry {
  readonly host: string | null;
  readonly network: readonly [Address, number] | null;
  readonly scheme: Scheme | null;
  readonly port: number | null;
}

/** Where requests may go besides public addresses, as the operator says. */
export interface Allowance {
  readonly entries: readonly AllowanceEntry[];
}

/** A server as a URL names it. */
export interface Target {
  readonly scheme: Scheme;
  /** Lower case, without brackets and final dot. */
  readonly host: string;
  readonly port: number;
}

/** Only public addresses. */
export const NO_ALLOWANCE: Allowance = { entries: [] };

const ENTRY =
  /^(?:(https?):\/\/)?(?:\[([0-9a-f:.]+)\]|([^\s/:@[\]]+|[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/i;

/**
 * Reads a comma list of `[http://|https://](host|address|network)[:port]`, such as
 * `127.0.0.1,10.0.0.0/8,https://hooks.corp.example,[fd00::1]:8443`. An entry with a scheme allows only that
 * scheme there, one with a port only that port; otherwise plain HTTP and HTTPS and every port are allowed.
 * @throws InvalidError naming the entry that cannot be read
 */
export function parseAllowance(text: string): Allowance {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return { entries: entries.map(parseEntry) };
}

function parseEntry(text: string): AllowanceEntry {
  const [, scheme, bracketed, bare, prefix, port] = ENTRY.exec(text) ?? [];
  const name = (bracketed ?? bare)?.toLowerCase();
  if (name === undefined || (port !== undefined && Number(port) > 65_535)) throw unreadable(text);
  const rest = {
    scheme: scheme === undefined ? null : (scheme.toLowerCase() as Scheme),
    port: port === undefined ? null : Number(port),
  };
  const address = isIP(name) === 0 ? null : ipaddr.parse(name);
  if (address !== null) {
    const bits = address.kind() === 'ipv4' ? 32 : 128;
    const length = prefix === undefined ? bits : Number(prefix);
    if (length > bits) throw unreadable(text);
    return { ...rest, host: null, network: [address, length] };
  }
  const host = URL.canParse(`http://${name}/`) ? hostOf(new URL(`http://${name}/`)) : '';
  if (prefix !== undefined || !/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(host) || isIP(host) !== 0) {
    throw unreadable(text);
  }
  return { ...rest, host, network: null };
}

function unreadable(entry: string): InvalidError {
  return new InvalidError(
    `"${entry}" is not a host, address or network: write an entry such as 127.0.0.1, 10.0.0.0/8, hooks.example.com or https://hooks.example.com:8443.`,
    'invalid_allowance',
  );
}

/** Whether an entry lets the address of this target through. */
export function allowsAddress(allowance: Allowance, target: Target, address: Address): boolean {
  return matching(allowance, target).some(
    ({ host, network }) =>
      (host !== null && host === target.host) ||
      (network !== null &&
        network[0].kind() === address.kind() &&
        address.match(network[0], network[1])),
  );
}

/**
 * Whether some entry can let the target through once its name is resolved: one for the host, or a network that the
 * name may lead to. A single address has no names but the local ones.
 */
export function mayAllow(allowance: Allowance, target: Target): boolean {
  return matching(allowance, target).some(
    ({ host, network }) =>
      host === target.host ||
      (network !== null && (isLocalName(target.host) || !isSingle(...network))),
  );
}

/** Resolved by the machine itself, and never under a public domain. */
export function isLocalName(host: string): boolean {
  return !host.includes('.') || host.endsWith('.localhost');
}

function isSingle(address: Address, prefix: number): boolean {
  return prefix === (address.kind() === 'ipv4' ? 32 : 128);
}

/** Whether the operator has named this host. */
export function namesHost(allowance: Allowance, host: string): boolean {
  return allowance.entries.some((entry) => entry.host === host);
}

function matching(allowance: Allowance, target: Target): AllowanceEntry[] {
  return allowance.entries.filter(
    ({ scheme, port }) =>
      (scheme === null || scheme === target.scheme) && (port === null || port === target.port),
  );
}

/** Host of a URL as entries name it. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
