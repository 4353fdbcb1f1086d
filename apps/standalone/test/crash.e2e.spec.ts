import { setTimeout as delay } from 'node:timers/promises';
import { startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { arrivedAt, compose, deliver, subjectsIn } from './mail-load';
import {
  eventually,
  removeDataDir,
  startDak,
  temporaryDataDir,
  type RunningDak,
} from './running-dak';

const COUNT = 200;

describe('kill -9 under load', () => {
  const dataDir = temporaryDataDir();
  let sink: SmtpSink;
  let dak: RunningDak | undefined;

  beforeAll(async () => {
    sink = await startSmtpSink();
  });
  afterAll(async () => {
    await dak?.stop();
    await sink.stop();
    removeDataDir(dataDir);
  });

  it('keeps every mail that got 250 and every compose that got 201, and sends none twice', async () => {
    const environment = { DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}` };
    dak = await startDak(dataDir, environment);
    const { smtp, mailboxes } = dak.bootstrap;
    const [inbox, outbox] = mailboxes;
    const received: (string | null)[] = [];
    const accepted: (string | null)[] = [];
    const load = Array.from({ length: COUNT }, (_, i) => [
      deliver(smtp.port, inbox!.address, `in-${i}`).then((done) => received.push(done)),
      compose(dak!, outbox!.id, `out-${i}`).then((done) => accepted.push(done)),
    ]).flat();
    await eventually('some of both were taken', async () =>
      received.filter(Boolean).length > 20 && accepted.filter(Boolean).length > 20 ? true : null,
    );
    await dak.kill();
    await Promise.all(load);

    dak = await startDak(dataDir, environment);
    const promisedIn = received.filter((subject) => subject !== null);
    const promisedOut = accepted.filter((subject) => subject !== null);
    const stored = await eventually('every mail that got 250 is listed', async () => {
      const subjects = await subjectsIn(dak!, inbox!.id);
      return promisedIn.every((subject) => subjects.includes(subject)) ? subjects : null;
    });
    expect(new Set(stored).size).toBe(stored.length);

    await eventually('every mail that got 201 arrived', async () => {
      const subjects = arrivedAt(sink);
      return promisedOut.every((subject) => subjects.includes(subject)) ? true : null;
    });
    await delay(1_500);
    const subjects = arrivedAt(sink);
    const twice = subjects.filter((subject, i) => subjects.indexOf(subject) !== i);
    // What was under way to the sink when the process died may have been acknowledged unseen: those wait as
    // `uncertain` (docs/operating.md), so that even they are not sent twice within this test.
    expect(twice).toEqual([]);
  }, 120_000);
});
