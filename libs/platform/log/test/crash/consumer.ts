import { claimInbox, fromLogRecord, type RecordHandler } from '../../src/index';
import {
  CRASH_TOPICS,
  GROUP,
  ORGANIZATION,
  insist,
  onStop,
  openService,
  openStageLog,
} from './stage';

const NOTE = `
  insert into ledger (event_id, key, seq)
  select * from unnest($1::text[], $2::text[], $3::bigint[])`;
const ADD = `
  insert into balance (key, total) values ($1, $2)
  on conflict (key) do update set total = balance.total + excluded.total`;

/** Adds every event to the balance of its conversation once, however often it is delivered. */
async function main(): Promise<void> {
  const log = await openStageLog();
  const database = openService('consumer');
  const add: RecordHandler = async (records) => {
    const events = records.map(fromLogRecord);
    await database.inTenant(ORGANIZATION, async (tx) => {
      const fresh = await claimInbox(
        tx,
        GROUP,
        events.map(({ id }) => id),
      );
      const own = events.filter(({ id }) => fresh.delete(id));
      await tx.query('insert into delivery values ($1, $2)', [events.length, own.length]);
      if (own.length === 0) return;
      await tx.query(NOTE, [
        own.map(({ id }) => id),
        own.map(({ conversationId }) => conversationId),
        own.map(({ sequence }) => sequence),
      ]);
      await tx.query(ADD, [own[0]!.conversationId, own.length]);
    });
  };
  await insist(() => log.subscribe(GROUP, Object.keys(CRASH_TOPICS), add));
  onStop(async () => {
    await log.close();
    await database.close();
  });
}

void main();
