import { BlockList, isIPv6 } from 'node:net';

/** Ranges that no mail host of the Internet has (RFC 6890 and its registry). */
const RESERVED = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  RESERVED.addSubnet(network, prefix, 'ipv4');
}
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001:db8::', 32],
  ['2001::', 23],
  ['2002::', 16],
] as const) {
  RESERVED.addSubnet(network, prefix, 'ipv6');
}

/**
 * False for addresses of this host, of private networks and of special ranges: a foreign MX record
 * must not be able to point mail, and with it a connection, into our own network.
 */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !RESERVED.check(address, 'ipv4');
  // ::ffff:10.0.0.1 is outside 2000::/3 and so refused with all other embedded IPv4.
  return GLOBAL_UNICAST.check(address, 'ipv6') && !RESERVED.check(address, 'ipv6');
}
