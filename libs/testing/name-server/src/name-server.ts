import { createSocket } from 'node:dgram';

/**
 * What a name has: the addresses of its A records, or the texts of its TXT records, whichever is asked
 * for; `fails` = SERVFAIL, `silent` = no answer at all. Other names do not exist.
 */
export type Zone = Map<string, readonly string[] | 'fails' | 'silent'>;

export interface NameServer {
  /** `host:port` */
  readonly address: string;
  /** Every name that was asked for, in order. */
  readonly queries: string[];
  close(): Promise<void>;
}

const TYPE_A = 1;
const TYPE_TXT = 16;
const RESPONSE_RECURSION_AVAILABLE = 0x8180;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;
/** One character string of a TXT record (RFC 1035 §3.3). */
const MAX_STRING = 255;

/** A name server on this machine that answers over UDP (RFC 1035 §4). */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = questionOf(query);
    const type = query.readUInt16BE(end);
    queries.push(name);
    const known = zone.get(name);
    if (known === 'silent') return;
    const records = Array.isArray(known) ? recordsOf(type, known as readonly string[]) : [];
    const code = known === undefined ? NAME_ERROR : known === 'fails' ? SERVER_FAILURE : 0;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(RESPONSE_RECURSION_AVAILABLE | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const question = query.subarray(12, end + 4);
    socket.send(Buffer.concat([header, question, ...records]), from.port);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function recordsOf(type: number, values: readonly string[]): Buffer[] {
  if (type === TYPE_A) {
    return values.map((address) => record(type, Buffer.from(address.split('.').map(Number))));
  }
  return type === TYPE_TXT ? values.map((text) => record(type, characterStrings(text))) : [];
}

/** A record for the name of the question, with a lifetime of 0 s. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function characterStrings(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += MAX_STRING) {
    const piece = bytes.subarray(at, at + MAX_STRING);
    pieces.push(Buffer.from([piece.length]), piece);
  }
  return Buffer.concat(pieces);
}
