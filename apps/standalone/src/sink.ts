import { SMTPServer } from 'smtp-server';

const DEFAULT_PORT = 2600;
const MAX_BYTES = 50 * 1024 * 1024;

/** `npm run sink -- [PORT]`: a real SMTP server that prints what it receives, to watch outgoing mail arrive. */
function main(): void {
  const port = Number(process.argv[2] ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    process.stderr.write(`${process.argv[2]} is not a port. Usage: npm run sink -- [PORT]\n`);
    process.exit(1);
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: MAX_BYTES,
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
        const to = session.envelope.rcptTo.map(({ address }) => address).join(', ');
        const message = Buffer.concat(chunks).toString('utf8').replaceAll('\r\n', '\n');
        process.stdout.write(`--- ${new Date().toISOString()} <${from}> → ${to}\n${message}\n`);
        callback();
      });
    },
  });
  server.on('error', (error) => {
    process.stderr.write(`The sink cannot run: ${error.message}\n`);
    process.exit(1);
  });
  server.listen(port, '127.0.0.1', () => {
    const address = server.server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    process.stdout.write(`Listening on smtp://127.0.0.1:${bound}; Ctrl-C ends it.\n`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
}

main();
