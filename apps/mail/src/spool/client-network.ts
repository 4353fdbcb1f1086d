import ipaddr from 'ipaddr.js';

/** Prefix lengths that define one client, and one network of clients. */
const PREFIXES = {
  client: { ipv4: 32, ipv6: 64 },
  network: { ipv4: 24, ipv6: 48 },
} as const;

/**
 * Who counts as one: an IPv4 address, or the /64 that one IPv6 site has for itself and can take any
 * address of. As `network`, the /24 or /48 around it. Anything else is its own client.
 */
export function clientNetwork(address: string, size: keyof typeof PREFIXES = 'client'): string {
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
