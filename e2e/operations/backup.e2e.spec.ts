import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { AcknowledgedLoad, releaseOutgoing } from '../stack/acknowledged-load';
import { runCommand } from '../stack/dak-command';
import { arrivedAt, compose, subjectsIn } from '../stack/mail-load';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';

const UNDO_SECONDS = 40;

describe('backup and restore', () => {
  const dataDir = temporaryDataDir();
  const elsewhere = temporaryDataDir();
  const folder = join(dirname(dataDir), 'backup');
  let sink: SmtpSink;
  let dak: RunningDak | undefined;
  const running = (): RunningDak => dak!;
  const environment = (): Record<string, string> => ({
    DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
  });

  beforeAll(async () => {
    sink = await startSmtpSink();
  });
  afterAll(async () => {
    await dak?.stop();
    await sink.stop();
    removeDataDir(dataDir);
    removeDataDir(elsewhere);
  });

  it('brings everything that was acknowledged to another folder, and sends nothing before it may and nothing twice', async () => {
    dak = await startDak(dataDir, environment());
    const [inbox, outbox] = running().bootstrap.mailboxes;
    const before = await Promise.all(
      Array.from({ length: 20 }, (_, i) => compose(running(), outbox!.id, `before-${i}`)),
    );
    await eventually('the first mails arrived', async () => arrivedAt(sink).length === 20);
    const dueAt = Date.now() + UNDO_SECONDS * 1_000;
    for (let i = 0; i < 5; i += 1) {
      const { status } = await running().api('POST', '/compose/send', {
        mailbox_id: outbox!.id,
        to: ['someone@elsewhere.example'],
        subject: `later-${i}`,
        body_text: 'hello',
        undo_seconds: UNDO_SECONDS,
      });
      expect(status).toBe(201);
    }

    const load = new AcknowledgedLoad(running(), 4);
    const promised = await load.untilMuch();
    const backup = await runCommand('backup', [folder], { DAK_DATA_DIR: dataDir });
    await running().kill();
    await load.stop();
    expect(backup.lines.join('\n')).toMatch(/The moment of the backup is /);
    expect(backup.code).toBe(0);
    const told = JSON.parse(backup.out) as { blobs: number; missing_blobs: number };
    expect(told).toMatchObject({ damaged_blobs: 0, missing_blobs: 0 });
    expect(told.blobs).toBeGreaterThan(80);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const arrivedBefore = arrivedAt(sink);

    const restored = await runCommand('restore', [folder], { DAK_DATA_DIR: elsewhere });
    expect(restored.lines.at(-1)).toMatch(/MB$/);
    expect(JSON.parse(restored.out)).toMatchObject({ outgoing: 'hold' });
    dak = await startDak(elsewhere, environment());
    await eventually('all mail that got 250 before is listed', async () => {
      const subjects = await subjectsIn(running(), inbox!.id);
      return promised.received.every((subject) => subjects.includes(subject));
    });
    const { body } = await running().api('GET', '/labels?per_page=100');
    const names = (body.data as { name: string }[]).map(({ name }) => name);
    expect(promised.labels.slice(0, 50).filter((name) => !names.includes(name))).toEqual([]);
    expect(Date.now()).toBeLessThan(dueAt + 60_000);
    await eventually('what was scheduled is due', async () => Date.now() > dueAt + 1_500, 60_000);
    expect(arrivedAt(sink)).toEqual(arrivedBefore);

    await releaseOutgoing(running());
    const expected = [...before, ...promised.accepted, ...[0, 1, 2, 3, 4].map((i) => `later-${i}`)];
    await eventually('every mail that was accepted before has left', async () => {
      const arrived = arrivedAt(sink);
      return expected.every((subject) => arrived.includes(subject!));
    });
    const arrived = arrivedAt(sink);
    // What left between the end of the backup and the death of the first Dak is known to that one alone.
    const known = arrived.filter((subject) => expected.includes(subject));
    const last = arrivedBefore.slice(-40);
    const twice = known.filter((subject, i) => known.indexOf(subject) !== i);
    expect(twice.filter((subject) => !last.includes(subject))).toEqual([]);
    expect(running().errors).toEqual([]);
  }, 240_000);

  it.each<[string, (backup: string) => void, RegExp]>([
    [
      'a changed row',
      (backup) => {
        const file = join(backup, 'databases/gateway/organization.copy');
        writeFileSync(file, readFileSync(file, 'utf8').replace('active', 'closed'));
      },
      /^The backup is damaged: databases\/gateway\/organization\.copy is not as it was written/,
    ],
    [
      'a file that was cut',
      (backup) => truncateSync(join(backup, 'databases/mail/message.copy'), 100),
      /^The backup is damaged: databases\/mail\/message\.copy/,
    ],
    [
      'a blob that was cut',
      (backup) => truncateSync(join(backup, 'blobs', firstBlob(backup)), 10),
      /^The backup is damaged: blobs\//,
    ],
    [
      'a blob that is gone',
      (backup) => rmSync(join(backup, 'blobs', firstBlob(backup))),
      /^The backup is damaged: blobs\//,
    ],
    [
      'a manifest that was edited',
      (backup) => edit(backup, (text) => text.replace('"format": 1', '"format": 2'), false),
      /^The backup is damaged: manifest\.json/,
    ],
    [
      'another format',
      (backup) => edit(backup, (text) => text.replace('"format": 1', '"format": 2'), true),
      /has the format 2 and this version of Dak reads 1/,
    ],
    [
      'migrations of a newer version',
      (backup) =>
        edit(backup, (text) => text.replace('20261121000000_identity', '29991121000000_x'), true),
      /^The backup was made by another version of Dak/,
    ],
    [
      'a backup that did not end',
      (backup) => rmSync(join(backup, 'manifest.json')),
      /holds no backup that was completed/,
    ],
  ])('refuses %s in one sentence and changes nothing', async (_what, damage, sentence) => {
    const copy = join(dirname(dataDir), 'damaged');
    rmSync(copy, { recursive: true, force: true });
    cpSync(folder, copy, { recursive: true });
    damage(copy);
    const target = join(dirname(dataDir), 'target');
    const { code, out, lines } = await runCommand('restore', [copy], { DAK_DATA_DIR: target });
    expect(lines.at(-1)).toMatch(sentence);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(existsSync(target)).toBe(false);
  });

  it('refuses a data folder and a folder for a backup that are not empty', async () => {
    const full = join(dirname(dataDir), 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'note.txt'), 'mine');
    const restore = await runCommand('restore', [folder], { DAK_DATA_DIR: full });
    const backup = await runCommand('backup', [full], { DAK_DATA_DIR: elsewhere });
    for (const { code, lines } of [restore, backup]) {
      expect(lines).toEqual([expect.stringMatching(/full is not empty: /)]);
      expect(code).toBe(1);
    }
    expect(readdirSync(full)).toEqual(['note.txt']);
  });

  it('needs a Dak that runs', async () => {
    const { code, lines } = await runCommand('backup', [join(dirname(dataDir), 'none')], {
      DAK_DATA_DIR: dataDir,
    });
    expect(lines).toEqual([expect.stringMatching(/^No Dak runs on /)]);
    expect(code).toBe(1);
  });
});

function firstBlob(backup: string): string {
  return readFileSync(join(backup, 'blobs.list'), 'utf8').split(' ')[0]!;
}

function edit(backup: string, change: (text: string) => string, isSummed: boolean): void {
  const file = join(backup, 'manifest.json');
  const text = change(readFileSync(file, 'utf8'));
  writeFileSync(file, text);
  if (!isSummed) return;
  const sum = createHash('sha256').update(text).digest('hex');
  writeFileSync(`${file}.sha256`, `${sum}  manifest.json\n`);
}
