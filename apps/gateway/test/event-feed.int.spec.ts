import { join } from 'node:path';
import { Client } from 'pg';
import { uuidv7 } from '@dak/kernel';
import { Database } from '@dak/platform/postgres';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { toFeedItem, type FeedItem } from '../src/event-stream/feed-item';
import {
  appendItems,
  findOldest,
  findPosition,
  readHeads,
  readItems,
  sweepItems,
  wantFeed,
} from '../src/event-stream/feed-store';
import { eventOf } from './event-rig';

describe('the feed', () => {
  let test: TestDatabase;
  let database: Database;
  let owner: Client;

  beforeAll(async () => {
    test = await createTestDatabase({
      name: 'gateway',
      migrationsFolder: join(__dirname, '../prisma/migrations'),
    });
    database = new Database({ url: test.url, applicationName: 'feed-test', maxConnections: 8 });
    owner = new Client({ connectionString: test.adminUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await database.close();
    await test.drop();
  });

  const append = (items: readonly FeedItem[]) => database.asWorker((tx) => appendItems(tx, items));
  const itemsOf = (organizationId: string, count: number): FeedItem[] =>
    Array.from({ length: count }, () => toFeedItem(eventOf({ organizationId }))!);
  const everything = (organizationId: string) => readItems(database, organizationId, 0, 10_000);

  it('numbers without gaps, whoever writes at the same time and whatever is written twice', async () => {
    const organizations = [uuidv7(), uuidv7(), uuidv7()];
    for (const id of organizations) await wantFeed(database, id);
    const items = organizations.flatMap((id) => itemsOf(id, 60));
    // Every item is handed over by two writers, in groups that overlap differently.
    const groups = Array.from({ length: 24 }, (_, index) => {
      const from = (index * 37) % items.length;
      return [...items.slice(from, from + 20), ...items.slice(0, Math.max(0, from + 20 - 180))];
    });
    await Promise.all([...groups, items, items.toReversed()].map(append));
    for (const organizationId of organizations) {
      const read = await everything(organizationId);
      expect(read.map(({ position }) => position)).toEqual(
        Array.from({ length: 60 }, (_, index) => index + 1),
      );
      expect(new Set(read.map(({ eventId }) => eventId)).size).toBe(60);
      expect((await readHeads(database, [organizationId])).get(organizationId)).toBe(60);
    }
  });

  it('keeps the order in which it was written, and what is there stays in its place', async () => {
    const organizationId = uuidv7();
    await wantFeed(database, organizationId);
    const items = itemsOf(organizationId, 6);
    await append(items.slice(0, 3));
    await append([items[2]!, items[0]!, ...items.slice(3)]);
    const read = await everything(organizationId);
    expect(read.map(({ eventId }) => eventId)).toEqual(items.map(({ eventId }) => eventId));
    expect(read.map(({ body }) => body)).toEqual(items.map(({ body }) => body));
    expect(await findPosition(database, organizationId, items[4]!.eventId)).toBe(5);
    expect(await findPosition(database, uuidv7(), items[4]!.eventId)).toBeNull();
  });

  it('forgets the oldest first, and never its place', async () => {
    const organizationId = uuidv7();
    await wantFeed(database, organizationId);
    await append(itemsOf(organizationId, 5));
    await owner.query(
      `update event_feed set recorded_at = now() - interval '50 hours'
        where organization_id = $1 and position <= 3`,
      [organizationId],
    );
    const sweep = (limit: number) => database.asWorker((tx) => sweepItems(tx, 48, limit));
    expect([await sweep(2), await sweep(2), await sweep(2)]).toEqual([2, 1, 0]);
    expect(await findOldest(database, organizationId)).toMatchObject({ position: 4 });
    await owner.query('delete from event_feed where organization_id = $1', [organizationId]);
    expect(await findOldest(database, organizationId)).toBeNull();
    await append(itemsOf(organizationId, 1));
    expect((await everything(organizationId)).map(({ position }) => position)).toEqual([6]);
  });

  it('holds events of an organization from when somebody listened, and for two days after', async () => {
    const organizationId = uuidv7();
    await append(itemsOf(organizationId, 2));
    expect(await wantFeed(database, organizationId)).toEqual({ head: 0, isComplete: false });
    await append(itemsOf(organizationId, 3));
    expect(await wantFeed(database, organizationId)).toEqual({ head: 3, isComplete: true });
    await owner.query(
      `update event_feed_head set wanted_at = now() - interval '50 hours' where organization_id = $1`,
      [organizationId],
    );
    await append(itemsOf(organizationId, 1));
    // What came meanwhile is not there, and whoever comes back is told so.
    expect(await wantFeed(database, organizationId)).toEqual({ head: 3, isComplete: false });
    expect(await everything(organizationId)).toHaveLength(3);
  });
});
