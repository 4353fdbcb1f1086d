import { uuidv7 } from '@dak/kernel';
import { Database } from '@dak/platform/postgres';
import { createAnalyticsHandlers } from '../src/analytics/handlers';
import type { JournalEntry } from '../src/analytics/journal-entry';
import { rebuildModel } from '../src/analytics/rebuild-model';
import { takeEvents, type TakenEvent } from '../src/analytics/take-events';

export interface AnalyticsLoad {
  conversations: number;
  /** Days back from now over which they begin. */
  days: number;
  /** Events per transaction. */
  batch: number;
}

export interface AnalyticsFigures {
  events: number;
  /** Events per second into journal and model. */
  takenPerSecond: number;
  /** Journal entries per second of a rebuild. */
  rebuiltPerSecond: number;
  /** Milliseconds, median of five. */
  overviewOfAdmin: number;
  overviewOfUser: number;
  overviewByHour: number;
}

const DAY_MS = 86_400_000;
const MAILBOXES = 20;
const PEOPLE = 30;
const DEPARTMENTS = 8;

/** A database of the mail service, migrated; every run uses an organization of its own. */
export async function measureAnalytics(
  databaseUrl: string,
  load: AnalyticsLoad,
): Promise<AnalyticsFigures> {
  const database = new Database({ url: databaseUrl, applicationName: 'dak bench' });
  try {
    const organizationId = uuidv7();
    const now = Date.now();
    const history = conversations(organizationId, load, now);
    const takenIn = await timed(async () => {
      for (let at = 0; at < history.length; at += load.batch) {
        const batch = history.slice(at, at + load.batch);
        await database.asWorker((tx) => takeEvents(tx, batch));
      }
    });
    const rebuiltIn = await timed(() => rebuildModel(database, organizationId));
    await database.pool.query('analyze analytics_fact, analytics_conversation').catch(() => null);
    const overview = overviewOf(database, organizationId, now);
    const entries = history.filter(({ entry }) => entry !== null).length;
    return {
      events: history.length,
      takenPerSecond: Math.round((history.length / takenIn) * 1000),
      rebuiltPerSecond: Math.round((entries / rebuiltIn) * 1000),
      overviewOfAdmin: await overview('admin', {}),
      overviewOfUser: await overview('user', {}),
      overviewByHour: await overview('admin', { granularity: 'hour', timeZone: 'Asia/Kolkata' }),
    };
  } finally {
    await database.close();
  }
}

function overviewOf(database: Database, organizationId: string, now: number) {
  const handlers = createAnalyticsHandlers({ database, clock: () => now });
  return async (role: 'admin' | 'user', query: object): Promise<number> => {
    const context = {
      principal: {
        type: 'session' as const,
        organizationId,
        userId: person(0),
        userName: 'Bench',
        role,
        scopes: [],
        credentialId: uuidv7(),
        departmentIds: [department(1), department(2)],
      },
      requestId: 'bench',
      deadline: now + 600_000,
      signal: new AbortController().signal,
      idempotency: null,
      traceparent: null,
    };
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      times.push(await timed(() => handlers.getOverview({ query }, context)));
    }
    return Math.round(times.sort((a, b) => a - b)[2]!);
  };
}

/** A message comes in, is assigned, answered and resolved: seven events, and the next conversation begins meanwhile. */
function conversations(
  organizationId: string,
  { conversations: count, days }: AnalyticsLoad,
  now: number,
): TakenEvent[] {
  const events: TakenEvent[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = now - days * DAY_MS + Math.floor((index / count) * (days - 1) * DAY_MS);
    const place = {
      organizationId,
      mailboxId: uuid('a', index % MAILBOXES),
      departmentId: department(index % DEPARTMENTS),
      conversationId: uuidv7(),
    };
    const worker = { type: 'user', id: person(index % PEOPLE), name: `Person ${index % PEOPLE}` };
    const add = (
      minutes: number,
      actor: JournalEntry['actor'],
      content: JournalEntry['content'] | null,
    ) => {
      const occurredAt = new Date(start + minutes * 60_000).toISOString();
      const entry: JournalEntry | null =
        content === null
          ? null
          : { ...place, eventId: uuidv7(), occurredAt, messageId: uuidv7(), actor, content };
      events.push({ organizationId, occurredAt, entry });
    };
    const outside = { type: 'external', id: '', name: '' };
    add(0, outside, {
      kind: 'mail.received',
      facts: {
        received_at: new Date(start).toISOString(),
        kind: 'human',
        new: true,
        imported: false,
        status: 'open',
        authentication: null,
      },
    });
    add(0, outside, {
      kind: 'conversation.updated',
      facts: { reason: 'created', created: true, status: 'open', disposition: 'normal' },
    });
    add(5, worker, {
      kind: 'conversation.updated',
      facts: { reason: 'assigned', assignee: worker },
    });
    add(6, worker, null);
    add(20, worker, { kind: 'mail.sent', facts: { automatic: false, attempts: 1 } });
    add(20, worker, { kind: 'conversation.updated', facts: { reason: 'x', status: 'waiting' } });
    if (index % 5 > 0) {
      const facts = { reason: 'status_changed', status: 'resolved' };
      add(60 + (index % 300), worker, { kind: 'conversation.updated', facts });
    }
  }
  return events;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function uuid(kind: string, index: number): string {
  return `${kind.repeat(8)}-0000-7000-8000-${String(index).padStart(12, '0')}`;
}

function person(index: number): string {
  return uuid('b', index);
}

function department(index: number): string {
  return uuid('c', index);
}
