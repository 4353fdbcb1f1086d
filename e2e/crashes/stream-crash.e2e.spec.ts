import { StreamClient } from '@dak/testing/event-stream';
import { eventually, timePasses } from '@dak/testing/waiting';
import { compose } from '../stack/mail-load';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';

const ROUNDS = 4;

describe('a stream whose server is killed', () => {
  const dataDir = temporaryDataDir();
  let dak: RunningDak;
  afterAll(async () => {
    await dak?.stop();
    removeDataDir(dataDir);
  });

  const follow = async (lastEventId: string, query = ''): Promise<StreamClient> => {
    const { base_url, api_key } = dak.bootstrap;
    const client = new StreamClient(base_url.replace(/\/api\/v1$/, ''), api_key, {
      query,
      lastEventId,
    });
    await client.ready();
    expect(client.status).toBe(200);
    return client;
  };

  it('goes on with what it has not had, and tells of every mail that was accepted', async () => {
    dak = await startDak(dataDir);
    let client = await follow('');
    const start = await eventually('a place', async () => client.lastEventId);
    let place = start;
    const got: string[] = [];
    const subjects = new Set<unknown>();
    const accepted: string[] = [];
    const take = (): void => {
      place = client.lastEventId || place;
      got.push(...client.ids());
      for (const { type, data } of client.events()) {
        if (type === 'mail.sent') subjects.add(data['subject']);
      }
      expect(client.notices()).toEqual([]);
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const mailbox = dak.bootstrap.mailboxes[0]!.id;
      const sends = Array.from({ length: 30 }, (_, index) =>
        compose(dak, mailbox, `round ${round} mail ${index}`).then((subject) => {
          if (subject !== null) accepted.push(subject);
        }),
      );
      await timePasses(200 + Math.random() * 600);
      await dak.kill();
      await Promise.all(sends);
      take();
      dak = await startDak(dataDir);
      client = await follow(place);
    }
    await eventually('every accepted mail', async () => {
      const seen = client.events().map(({ data }) => data['subject']);
      return accepted.every((subject) => subjects.has(subject) || seen.includes(subject));
    });
    const whole = await follow(start, '?seconds=0');
    await whole.until('the end', () => whole.isEnded);
    const last = whole.ids().at(-1)!;
    await client.until('the last event', () => [...got, ...client.ids()].includes(last));
    take();
    client.kill();
    expect(accepted.length).toBeGreaterThan(10);
    expect(got.slice(0, whole.ids().length)).toEqual(whole.ids());
    expect(new Set(got).size).toBe(got.length);
  }, 180_000);
});
