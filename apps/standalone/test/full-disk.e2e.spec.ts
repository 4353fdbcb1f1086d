import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  eventually,
  removeDataDir,
  startDak,
  temporaryDataDir,
  type RunningDak,
} from './running-dak';

const canMount = process.platform === 'linux' && process.getuid?.() === 0;
const describeAsRoot = canMount ? describe : describe.skip;
/** Larger than what the spool takes into its row, so that each needs room of its own. */
const LARGE = 400 * 1024;
const WITHIN_MS = 10_000;

/** Leaves not an octet. */
function fill(file: string): void {
  const target = openSync(file, 'w');
  try {
    for (let size = 1024 * 1024; size >= 1;) {
      try {
        writeSync(target, Buffer.alloc(size));
      } catch {
        size = Math.floor(size / 16);
      }
    }
  } finally {
    closeSync(target);
  }
}

describeAsRoot('a full disk', () => {
  const dataDir = temporaryDataDir();
  const filler = join(dataDir, 'filler');
  let dak: RunningDak;

  beforeAll(async () => {
    mkdirSync(dataDir, { recursive: true });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'tmpfs', dataDir]);
    if (mounted.status !== 0) throw new Error(String(mounted.stderr));
    // PostgreSQL's user enters it, so that the databases are on it as well.
    spawnSync('chmod', ['755', dirname(dataDir), dataDir]);
    dak = await startDak(dataDir);
  }, 120_000);
  afterAll(async () => {
    await dak?.stop();
    spawnSync('umount', [dataDir]);
    removeDataDir(dataDir);
  });

  const composeLarge = async (subject: string) => {
    const begun = performance.now();
    const response = await fetch(`${dak.bootstrap.base_url}/compose/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${dak.bootstrap.api_key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        mailbox_id: dak.bootstrap.mailboxes[0]!.id,
        to: ['someone@elsewhere.example'],
        subject,
        body_text: `${subject} `.repeat(LARGE / (subject.length + 1)),
      }),
    });
    const error = ((await response.json()) as { error?: string }).error;
    return {
      status: response.status,
      retryAfter: Number(response.headers.get('retry-after')),
      error,
      ms: performance.now() - begun,
    };
  };
  const upload = async (): Promise<number> => {
    const form = new FormData();
    form.append('file', new Blob([randomBytes(LARGE)]), 'lamp.bin');
    const reply = await fetch(`${dak.bootstrap.base_url}/attachments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${dak.bootstrap.api_key}` },
      body: form,
    });
    await reply.text();
    return reply.status;
  };
  it('is told as such, to be tried again later, and everything goes on without a restart once there is room', async () => {
    expect((await composeLarge('before')).status).toBe(201);
    expect(await upload()).toBe(201);
    fill(filler);
    for (let i = 0; i < 4; i += 1) {
      const { status, retryAfter, error, ms } = await composeLarge(`full-${i}`);
      expect({ status, error }).toEqual({ status: 503, error: expect.any(String) });
      expect(retryAfter).toBeGreaterThan(0);
      expect(ms).toBeLessThan(WITHIN_MS);
      expect(await upload()).toBe(503);
    }
    rmSync(filler);
    await eventually(
      'mail goes out again',
      async () => (await composeLarge('after')).status === 201,
    );
    await eventually('files are taken again', async () => (await upload()) === 201);
    expect(dak.process.exitCode).toBeNull();
  }, 120_000);
});
