import { startSmtpSink } from '@dak/testing/smtp-sink';
import { measureCompose } from './measure-compose';

/** `compose.bench DATABASE_URL [CALLERS [MESSAGES [BODY_BYTES]]]`: composed mail until a sink has it, as JSON. */
async function main([databaseUrl, callers = '50', messages = '3000', bytes = '4096']: string[]) {
  if (databaseUrl === undefined) {
    throw new Error('usage: compose.bench DATABASE_URL [CALLERS [MESSAGES [BODY_BYTES]]]');
  }
  const sink = await startSmtpSink({ discard: true });
  const load = { callers: Number(callers), messages: Number(messages), bodyBytes: Number(bytes) };
  const result = await measureCompose({
    databaseUrl,
    relay: { host: sink.host, port: sink.port },
    countAccepted: () => sink.accepted,
    ...load,
  });
  process.stdout.write(`${JSON.stringify({ ...load, ...result })}\n`);
  await sink.stop();
}

void main(process.argv.slice(2));
