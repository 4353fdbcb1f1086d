import { connect } from 'node:net';

/** One whole SMTP transaction; resolves with the subject once 250 was said, null if the server died first. */
export function deliver(port: number, to: string, subject: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const steps = [
      'EHLO client.example\r\n',
      'MAIL FROM:<ada@example.org>\r\n',
      `RCPT TO:<${to}>\r\n`,
      'DATA\r\n',
      `From: ada@example.org\r\nTo: ${to}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.org>\r\n\r\n${'x'.repeat(2000)}\r\n.\r\n`,
    ];
    let buffered = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      buffered += text;
      if (!/^\d{3} .*\r\n$/m.test(buffered)) return;
      const isFinal = steps.length === 0;
      const isGood = /^[23]/.test(buffered);
      buffered = '';
      if (isFinal || !isGood) {
        resolve(isFinal && isGood ? subject : null);
        socket.destroy();
        return;
      }
      socket.write(steps.shift()!);
    });
    socket.on('error', () => resolve(null));
    socket.on('close', () => resolve(null));
  });
}
