import { BlockList, isIPv6 } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { parseForwarded, parseForwardedFor, plainAddress, type Hop } from './forwarded-for';

/** Determines the client address of a request. */
export type ClientAddressOf = (request: IncomingMessage) => string;

/**
 * The client's address: that of the socket or, where a trusted proxy holds the socket, the nearest hop that is no trusted
 * proxy. What stands further left was written by strangers. Where a proxy names nothing usable, the proxy itself counts
 * as the client.
 * @param trusted addresses and networks in CIDR notation
 */
export function clientAddressReader(trusted: readonly string[]): ClientAddressOf {
  const socketAddress = (request: IncomingMessage): string =>
    plainAddress((request.socket.remoteAddress ?? 'unknown').replace(/%.*/, ''));
  if (trusted.length === 0) return socketAddress;
  const proxies = blockListOf(trusted);
  const isTrusted = (address: string): boolean =>
    proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (request) => {
    const peer = socketAddress(request);
    if (peer === 'unknown' || !isTrusted(peer)) return peer;
    const forwardedFor = joined(request.headers['x-forwarded-for']);
    const forwarded = joined(request.headers['forwarded']);
    const named = [
      ...(forwardedFor === null ? [] : [parseForwardedFor(forwardedFor)]),
      ...(forwarded === null ? [] : [parseForwarded(forwarded) ?? []]),
    ].map((hops) => nearestStranger(peer, hops, isTrusted));
    // A proxy writes one of the two and passes the other on as the client sent it: so it is unknown which is right.
    return named.length > 0 && named.every((address) => address === named[0]) ? named[0]! : peer;
  };
}

function nearestStranger(
  peer: string,
  hops: readonly Hop[],
  isTrusted: (address: string) => boolean,
): string {
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    if (hop === null) return nearest;
    nearest = hop;
    if (!isTrusted(hop)) return nearest;
  }
  return nearest;
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split('/');
    const family = isIPv6(address!) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address!, family);
    else list.addSubnet(address!, Number(prefix), family);
  }
  return list;
}

function joined(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  return typeof header === 'string' ? header : header.join(',');
}
