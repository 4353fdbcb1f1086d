import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Prefix lengths that define one client, and one network of clients. */
const PREFIXES = {
  client: { ipv4: 32, ipv6: 64 },
  network: { ipv4: 24, ipv6: 48 },
} as const;

/**
 * What limits count as one client: an IPv4 address, or the /64 of an IPv6 address, all of which one
 * subscriber has (RFC 6177). As `network`, the /24 or /48 around it. Anything else is its own client.
 */
export function clientNetwork(address: string, size: keyof typeof PREFIXES = 'client'): string {
  if (size === 'client' && isIPv4(address)) return address;
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const prefix = PREFIXES[size][parsed.kind()];
  const bytes = parsed.toByteArray();
  const network = bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff << (8 - bits));
  });
  const text = ipaddr.fromByteArray(network).toString();
  return prefix === bytes.length * 8 ? text : `${text}/${prefix}`;
}
