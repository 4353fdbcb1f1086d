const LF = 0x0a;
const CR = 0x0d;
const NAME = Buffer.from('received:');

/** How many `Received` fields the header section has: one per hop so far (RFC 5321 §6.3). */
export function countReceivedFields(message: Buffer): number {
  let count = 0;
  let start = 0;
  while (start < message.length) {
    const first = message[start]!;
    if (first === LF || (first === CR && message[start + 1] === LF)) break;
    if ((first | 0x20) === NAME[0] && isReceived(message, start)) count += 1;
    const end = message.indexOf(LF, start);
    if (end === -1) break;
    start = end + 1;
  }
  return count;
}

function isReceived(message: Buffer, start: number): boolean {
  for (let index = 1; index < NAME.length; index += 1) {
    const octet = message[start + index] ?? 0;
    // Only letters have a second case; the colon stays.
    if ((index === NAME.length - 1 ? octet : octet | 0x20) !== NAME[index]) return false;
  }
  return true;
}
