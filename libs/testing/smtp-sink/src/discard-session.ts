import type { Socket } from 'node:net';

const END_OF_DATA = Buffer.from('\r\n.\r\n');
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Speaks just enough SMTP or LMTP to accept and discard mail under load: commands are distinguished by
 * their first letter, all replies to one chunk leave in one write, content is searched and never
 * copied. Counts through `onMessage`.
 */
export function serveDiscard(socket: Socket, lmtp: boolean, onMessage: () => void): void {
  let carry: Buffer = EMPTY;
  let inData = false;
  let recipients = 0;
  const greeting = lmtp ? '220 sink LMTP\r\n' : '220 sink ESMTP\r\n';
  socket.setNoDelay(true);
  socket.write(greeting);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    let input: Buffer = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
    let replies = '';
    for (;;) {
      if (inData) {
        // A message whose first line is the final dot is not worth handling in a load test.
        const end = input.indexOf(END_OF_DATA);
        if (end === -1) {
          carry = input.length > 4 ? Buffer.from(input.subarray(input.length - 4)) : input;
          break;
        }
        input = input.subarray(end + 5);
        inData = false;
        onMessage();
        const accepted = '250 2.0.0 Discarded\r\n';
        replies += lmtp ? accepted.repeat(recipients) : accepted;
        recipients = 0;
        continue;
      }
      const lineEnd = input.indexOf(0x0a);
      if (lineEnd === -1) {
        carry = input;
        break;
      }
      const verb = input[0]! & 0xdf;
      const second = input[1]! & 0xdf;
      input = input.subarray(lineEnd + 1);
      if (verb === 0x44) {
        inData = true;
        replies += '354 Go on\r\n';
      } else if (verb === 0x51) {
        socket.end(`${replies}221 2.0.0 Bye\r\n`);
        return;
      } else if (verb === 0x45 || verb === 0x4c) {
        replies += '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n';
      } else {
        if (verb === 0x52 && second === 0x43) recipients += 1;
        replies += '250 2.0.0 Ok\r\n';
      }
    }
    if (replies !== '') socket.write(replies);
  });
}
