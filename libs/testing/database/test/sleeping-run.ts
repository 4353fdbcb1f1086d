import { spawn } from 'node:child_process';
import { joinRunServer } from '../src/run-server';

/** A test run that joins a server, prints the server's pid and then neither leaves nor ends. */
async function main(): Promise<void> {
  const server = await joinRunServer(process.argv[2]!, async () => {
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    child.unref();
    return { pid: child.pid!, stopSignal: 'TERM', details: {} };
  });
  process.stdout.write(`${server.pid}\n`);
  setInterval(() => undefined, 60_000);
}

void main();
