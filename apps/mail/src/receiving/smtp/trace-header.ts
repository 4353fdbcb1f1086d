import { isIPv6 } from 'node:net';
import type { TransmissionType } from './smtp-delivery';

export interface TraceFacts {
  readonly helo: string;
  /** IP address of the client. */
  readonly clientAddress: string;
  /** Our own host name. */
  readonly hostName: string;
  readonly protocol: TransmissionType;
  readonly tls: { readonly cipher: string; readonly version: string } | null;
  readonly queueId: string;
  /** Named in the field when it is the only one: several would tell each other about Bcc. */
  readonly recipients: readonly { readonly address: string }[];
  readonly receivedAt: Date;
}

/**
 * The `Received` field that Dak prepends (RFC 5321 §4.4), folded and ending in CRLF. Client
 * input cannot break out of it: HELO keeps only characters of host names and literals.
 */
export function formatTraceHeader(facts: TraceFacts): string {
  const { recipients, tls } = facts;
  const only = recipients.length === 1 ? recipients[0] : undefined;
  const address = isIPv6(facts.clientAddress) ? `IPv6:${facts.clientAddress}` : facts.clientAddress;
  const helo = facts.helo.replace(/[^A-Za-z0-9.:[\]_-]/g, '?').slice(0, 255) || 'unknown';
  const lines = [
    `Received: from ${helo} ([${address}])`,
    `by ${facts.hostName} with ${facts.protocol} id ${facts.queueId}`,
  ];
  if (tls !== null) lines.push(`(${tls.version} ${tls.cipher})`);
  const date = formatDate(facts.receivedAt);
  const path = only === undefined ? null : forPath(only.address, facts.protocol);
  lines.push(path === null ? `; ${date}` : `for <${path}>; ${date}`);
  if (path === null) {
    const end = lines.pop()!;
    return `${lines.join('\r\n\t')}${end}\r\n`;
  }
  return `${lines.join('\r\n\t')}\r\n`;
}

/** Non-ASCII addresses stand in a field only where the message is internationalized (RFC 6532). */
function forPath(address: string, protocol: TransmissionType): string | null {
  if (protocol.startsWith('UTF8')) return address;
  return /[^\u0021-\u007e]/.test(address) ? null : address;
}

let formattedSecond = 0;
let formatted = '';

/** RFC 5322 §3.3 in UTC. */
function formatDate(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== formattedSecond) {
    formattedSecond = second;
    formatted = date.toUTCString().replace('GMT', '+0000');
  }
  return formatted;
}
