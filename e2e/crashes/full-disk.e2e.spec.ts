import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SmtpDialog } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { openSession, transact } from '../stack/sending-mail';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';

const canMount = process.platform === 'linux' && process.getuid?.() === 0;
/** Only root can mount a small disk; CI is root, and without it the suite fails there instead of being left out. */
const describeAsRoot = canMount || process.env['CI'] !== undefined ? describe : describe.skip;
/** Larger than what the spool takes into its row, so that each needs room of its own. */
const LARGE = 400 * 1024;
const LARGE_TEXT = 'A lamp, and another one.\r\n'.repeat(LARGE / 26);
const WITHIN_MS = 10_000;
const BACK_WITHIN_MS = 15_000;
/** With two processors that others use as well. */
const SHOWN_WITHIN_MS = 45_000;

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
  /** One transaction of an open session. */
  const receive = async (dialog: SmtpDialog, subject: string, text: string) => {
    const begun = performance.now();
    const reply = await transact(dialog, {
      to: [dak.bootstrap.mailboxes[0]!.address],
      raw: `From: ada@example.org\r\nSubject: ${subject}\r\n\r\n${text}`,
    });
    return { reply, ms: performance.now() - begun };
  };
  const isListed = async (subject: string) => {
    const { body } = await dak.api('GET', '/conversations?status=all&per_page=100');
    return (body.data as { subject: string }[]).some((one) => one.subject === subject);
  };

  it('is told as such, to be tried again later, and everything goes on without a restart once there is room', async () => {
    const session = await openSession(dak.bootstrap.smtp.port);
    expect((await composeLarge('before')).status).toBe(201);
    expect((await receive(session, 'before', LARGE_TEXT)).reply).toMatch(/^250 /);
    expect(await upload()).toBe(201);
    fill(filler);
    for (let i = 0; i < 4; i += 1) {
      const { status, retryAfter, error, ms } = await composeLarge(`full-${i}`);
      expect({ status, error }).toEqual({ status: 503, error: expect.any(String) });
      expect(retryAfter).toBeGreaterThan(0);
      expect(ms).toBeLessThan(WITHIN_MS);
      expect(await upload()).toBe(503);
      const large = await receive(session, `full-${i}`, `${i} ${LARGE_TEXT}`);
      expect(large.reply).toMatch(/^452 4\.3\.1 /);
      expect(large.ms).toBeLessThan(WITHIN_MS);
    }
    rmSync(filler);
    expect((await receive(session, 'after', LARGE_TEXT)).reply).toMatch(/^250 /);
    session.socket.destroy();
    await eventually('mail is shown again', () => isListed('after'), BACK_WITHIN_MS);
    await eventually(
      'mail goes out again',
      async () => (await composeLarge('after')).status === 201,
      BACK_WITHIN_MS,
    );
    await eventually('files are taken again', async () => (await upload()) === 201, BACK_WITHIN_MS);
    expect(dak.process.exitCode).toBeNull();
  }, 120_000);

  it('that fills up while mail comes in ends no process', async () => {
    fill(filler);
    truncateSync(filler, statSync(filler).size - 12 * 1024 * 1024);
    const session = await openSession(dak.bootstrap.smtp.port);
    const taken: string[] = [];
    for (let i = 0; i < 200; i += 1) {
      const text = randomBytes(60_000).toString('hex').replace(/.{70}/g, '$&\r\n');
      const { reply, ms } = await receive(session, `small-${i}`, `${text}\r\n`);
      expect(reply).toMatch(/^(250 2\.6\.0|452 4\.3\.1) /);
      expect(ms).toBeLessThan(WITHIN_MS);
      if (reply.startsWith('250')) taken.push(`small-${i}`);
    }
    session.socket.destroy();
    expect(taken.length).toBeLessThan(90);
    rmSync(filler);
    let missing: string[] = [];
    const isComplete = async () => {
      const { body } = await dak.api('GET', '/conversations?status=all&per_page=100');
      const shown = new Set((body.data as { subject: string }[]).map(({ subject }) => subject));
      missing = taken.filter((subject) => !shown.has(subject));
      return missing.length === 0;
    };
    await eventually(
      () => `all mail that was taken: ${missing.join()}`,
      isComplete,
      SHOWN_WITHIN_MS,
    );
    expect(dak.process.exitCode).toBeNull();
  }, 120_000);
});
