import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { ReadingNotBegun, ReadingPool, type ReadingPoolOptions } from './reading-pool';

const repository = resolve(__dirname, '../../../../..');
const folder = mkdtempSync(join(tmpdir(), 'dak-reading-'));
const pools: ReadingPool[] = [];

/** The worker as the build makes it; the package's own executable, since esbuild's API refuses the realm of Jest. */
function bundle(entry: string, name: string): string {
  const outfile = join(folder, name);
  const esbuild = join(dirname(require.resolve('esbuild/package.json')), 'bin', 'esbuild');
  execFileSync(esbuild, [
    entry,
    '--bundle',
    '--platform=node',
    '--log-level=error',
    `--tsconfig=${join(repository, 'tsconfig.json')}`,
    `--outfile=${outfile}`,
  ]);
  return outfile;
}

let workerFile: string;
let hostileFile: string;

beforeAll(() => {
  workerFile = bundle(join(__dirname, '../../mail-worker.ts'), 'reading-worker.js');
  // Reads like the real one, but hangs, exhausts its memory or dies where the subject says so.
  const hostile = join(folder, 'hostile-worker.ts');
  writeFileSync(
    hostile,
    `import { readMessage } from '${join(__dirname, 'read-message')}';
     import { serveReadings } from '${join(__dirname, 'serve-readings')}';
     serveReadings((raw, isPlain) => {
       const reading = readMessage(raw);
       if (reading.subject === 'slow' && !isPlain) for (;;) { /* until terminated */ }
       if (reading.subject.startsWith('long')) { const end = Date.now() + 1000; while (Date.now() < end); }
       if (reading.subject === 'hang') for (;;) { /* until terminated */ }
       if (reading.subject === 'eat') { const all = []; for (;;) all.push({ text: String(all.length) }); }
       if (reading.subject === 'die') process.exit(7);
       return reading;
     });`,
  );
  hostileFile = bundle(hostile, 'hostile-worker.js');
});

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  rmSync(folder, { recursive: true });
});

function open(options: Partial<ReadingPoolOptions> = {}): ReadingPool {
  const pool = new ReadingPool({ workerFile, ...options });
  pools.push(pool);
  return pool;
}

const mail = (subject: string, body = 'Hi') =>
  Buffer.from(`From: a@b.c\r\nMessage-ID: <${subject}@b.c>\r\nSubject: ${subject}\r\n\r\n${body}`);

describe('ReadingPool', () => {
  it.each([1, 2])('gives each of many messages its own reading, with %i workers', async (size) => {
    const pool = open({ size });
    const subjects = Array.from({ length: 200 }, (_, index) => `m${index}`);
    const readings = await Promise.all(subjects.map((subject) => pool.read(mail(subject))));
    expect(readings.map((reading) => reading.subject)).toEqual(subjects);
  });

  it('brings the bytes of attachments across, and leaves the raw message usable', async () => {
    const raw = Buffer.from(
      'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: application/x-a\r\n\r\nABC\r\n--x\r\nContent-Type: application/x-b\r\n\r\nDE\r\n--x--\r\n',
    );
    const before = Buffer.from(raw);
    const { attachments } = await open().read(raw);
    expect(attachments.map(({ content }) => Buffer.from(content).toString())).toEqual([
      'ABC',
      'DE',
    ]);
    expect(attachments[0]?.content.buffer.byteLength).toBe(3);
    expect(raw.equals(before)).toBe(true);
  });

  it.each([
    ['takes too long', 'hang'],
    ['exhausts the memory', 'eat'],
    ['ends the worker', 'die'],
  ])(
    'reads only the headers of a message that %s, and everything of its neighbors',
    async (_, subject) => {
      const pool = open({ workerFile: hostileFile, timeoutMs: 2000, maxHeapMb: 40 });
      const readings = await Promise.all(
        ['before', subject, 'after'].map((one) => pool.read(mail(one))),
      );
      expect(readings.map((reading) => [reading.messageId, reading.text, reading.defects])).toEqual(
        [
          ['before@b.c', 'Hi', []],
          [`${subject}@b.c`, null, ['reading_failed']],
          ['after@b.c', 'Hi', []],
        ],
      );
      const failed = readings[1];
      expect(Buffer.from(failed?.attachments[0]?.content ?? []).equals(mail(subject))).toBe(true);
      expect((await pool.read(mail('next'))).text).toBe('Hi');
    },
  );

  it('reads a message the cheap way that takes too long', async () => {
    const pool = open({ workerFile: hostileFile, timeoutMs: 1000 });
    const reading = await pool.read(mail('slow', 'The text.'));
    expect(reading).toMatchObject({ messageId: 'slow@b.c', text: 'The text.', defects: [] });
  });

  it('reads the mail of others while one flow takes long, and in turns', async () => {
    const read: string[] = [];
    const pool = open({ workerFile: hostileFile, reliefAfterMs: 50 });
    const readInto = async (subject: string, flow: string) => {
      await pool.read(mail(subject), { flow });
      read.push(subject);
    };
    await readInto('warm', 'a|1');
    const long = Array.from({ length: 4 }, (_, index) => readInto(`long${index}`, 'a|1'));
    const began = performance.now();
    await Promise.all([readInto('other client', 'b|2'), readInto('other mailbox', 'a|3')]);
    const waited = performance.now() - began;
    await Promise.all(long);
    const last = read.indexOf('long3');
    expect(read.indexOf('other client')).toBeLessThan(last);
    expect(read.indexOf('other mailbox')).toBeLessThan(last);
    expect(waited).toBeLessThan(performance.now() - began);
  });

  it('gives back a message whose turn has not come, and tells what the others took', async () => {
    const noted: [string, boolean][] = [];
    const pool = open({
      workerFile: hostileFile,
      onRead: (flow, milliseconds, inFull) => {
        expect(milliseconds).toBeGreaterThanOrEqual(0);
        noted.push([flow, inFull]);
      },
    });
    const abort = new AbortController();
    const first = pool.read(mail('long'), { flow: 'a', signal: abort.signal });
    // Calls of one turn of the event loop travel together.
    await new Promise(setImmediate);
    const second = pool.read(mail('second'), { flow: 'a', signal: abort.signal });
    abort.abort();
    await expect(second).rejects.toThrow(ReadingNotBegun);
    expect((await first).subject).toBe('long');
    await expect(pool.read(mail('late'), { signal: abort.signal })).rejects.toThrow(
      ReadingNotBegun,
    );
    expect(noted).toEqual([['a', true]]);
  });

  it('finishes what it was given before it closes, and takes no more', async () => {
    const pool = open();
    const reading = pool.read(mail('last'));
    await pool.close();
    expect((await reading).subject).toBe('last');
    await expect(pool.read(mail('late'))).rejects.toThrow('The reading pool is closed');
  });

  it('says so when its worker cannot be started', async () => {
    const pool = open({ workerFile: join(folder, 'missing.js') });
    await expect(pool.read(mail('x'))).rejects.toThrow('cannot be started');
  });
});
