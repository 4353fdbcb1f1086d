import { createSocket } from 'node:dgram';

/** What a name has; `fails` = SERVFAIL, `silent` = no answer at all. */
export type Zone = Map<string, readonly string[] | 'fails' | 'silent'>;

const TYPE_A = 1;
const RESPONSE_RECURSION_AVAILABLE = 0x8180;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;

/** A name server on this machine that answers queries for IPv4 addresses (RFC 1035 §4). */
export async function startNameServer(
  zone: Zone,
): Promise<{ address: string; queries: string[]; close(): Promise<void> }> {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = questionOf(query);
    const type = query.readUInt16BE(end);
    queries.push(name);
    const known = zone.get(name);
    if (known === 'silent') return;
    const addresses = Array.isArray(known) && type === TYPE_A ? (known as readonly string[]) : [];
    const code = known === undefined ? NAME_ERROR : known === 'fails' ? SERVER_FAILURE : 0;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(RESPONSE_RECURSION_AVAILABLE | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const question = query.subarray(12, end + 4);
    socket.send(Buffer.concat([header, question, ...addresses.map(recordOf)]), from.port);
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

/** An A record for the name of the question, with a lifetime of 0 s. */
function recordOf(address: string): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(TYPE_A, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(4, 10);
  Buffer.from(address.split('.').map(Number)).copy(record, 12);
  return record;
}
