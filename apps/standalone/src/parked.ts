import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { ConflictError, DomainError, InvalidError } from '@dak/kernel';
import { readConfig } from '@dak/platform/config';
import { runningEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import {
  askReplay,
  dropParked,
  listParkedKeys,
  replayState,
  type ParkedFilter,
  type ParkedListing,
} from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';

const USAGE = `Lists, replays and drops parked keys of the event log, while Dak runs. A key is parked in a group of
consumers when one of its events fails for good; its later events wait behind that one.

  npm run --silent parked -- list [--group GROUP] [--topic TOPIC]
  npm run --silent parked -- replay KEY [--group GROUP] [--topic TOPIC]
  npm run --silent parked -- drop KEY [--group GROUP] [--topic TOPIC]

  list    one line of JSON for each key: group, topic, key, events (that wait), since, reason
  replay  hands the waiting events to their group again, in order; then the key goes on
  drop    gives the waiting events up for their group; the key goes on with later events

KEY in several groups or topics: all of them, unless --group or --topic says which. Without Dak running a
replay waits for its start.

Exit code: 0 done; 1 not done, the reason is on standard error; 2 wrong use.

Where: DAK_LOG_DATABASE_URL, or DAK_DATABASE_URL, or the database of the Dak that runs on the data folder
(DAK_DATA_DIR, .dak).`;

const LOOK_EVERY_MS = 200;
/** A running member looks every second. */
const TAKEN_WITHIN_MS = 15_000;
/** What the events wait for may be away for long; the wish stays. */
const DONE_WITHIN_MS = 120_000;
const WRONG_USE = 2;

/** The database of the log, under whichever role the environment gives. */
function logDatabaseUrl(): string {
  const config = readConfig(
    ['DAK_LOG_DATABASE_URL', 'DAK_DATABASE_URL', 'DAK_DATA_DIR'],
    process.env,
  );
  if (config.DAK_LOG_DATABASE_URL !== undefined) return config.DAK_LOG_DATABASE_URL;
  const adminUrl = config.DAK_DATABASE_URL ?? runningEmbeddedPostgres(config.DAK_DATA_DIR);
  if (adminUrl === null) {
    throw new InvalidError(
      `No Dak runs on ${config.DAK_DATA_DIR}: start it, or set DAK_LOG_DATABASE_URL or DAK_DATABASE_URL.`,
    );
  }
  const url = new URL(adminUrl);
  url.pathname = '/dak_log';
  return url.toString();
}

async function list(pool: Pool, filter: ParkedFilter): Promise<void> {
  for (const parked of await listParkedKeys(pool, filter)) print(publicFields(parked));
}

async function replay(pool: Pool, filter: ParkedFilter): Promise<void> {
  const found = await findKeys(pool, filter);
  for (const parked of found) await askReplay(pool, parked);
  const failures: string[] = [];
  for (const parked of found) {
    const failure = await awaitReplay(pool, parked);
    if (failure !== null) failures.push(failure);
  }
  if (failures.length > 0) throw new ConflictError(failures.join('\n'), 'not_replayed');
}

/** @returns why it did not succeed, or null */
async function awaitReplay(pool: Pool, parked: ParkedListing): Promise<string | null> {
  const { group, topic, key, events } = parked;
  const asked = Date.now();
  let wasTaken = false;
  for (;;) {
    const state = await replayState(pool, parked);
    if (state.is === 'done') {
      print({ group, topic, key, replayed: events, remaining: 0 });
      return null;
    }
    if (state.is === 'failed') {
      print({
        group,
        topic,
        key,
        replayed: Math.max(0, events - state.events),
        remaining: state.events,
      });
      return `${group} ${topic} ${key}: an event failed again, and the key stays parked: ${state.reason}`;
    }
    wasTaken ||= state.taken || state.events < events;
    const waited = Date.now() - asked;
    if (!wasTaken && waited > TAKEN_WITHIN_MS) {
      return `${group} ${topic} ${key}: no running member of the group took the replay up within ${TAKEN_WITHIN_MS / 1_000} s. Is Dak running, with this event log? The replay stays asked for and begins with the next start.`;
    }
    if (waited > DONE_WITHIN_MS) {
      return `${group} ${topic} ${key}: ${state.events} events still wait after ${DONE_WITHIN_MS / 1_000} s, perhaps for something that is away. The replay goes on by itself: look at the log and at "parked -- list".`;
    }
    await delay(LOOK_EVERY_MS);
  }
}

async function drop(pool: Pool, filter: ParkedFilter): Promise<void> {
  const logger = createLogger('parked', 'info');
  for (const parked of await findKeys(pool, filter)) {
    const { group, topic, key, reason } = parked;
    const eventIds = await dropParked(pool, parked);
    if (eventIds === 'replaying') {
      throw new ConflictError(
        `${group} ${topic} ${key} is being replayed: wait until that has ended, then look at the list again.`,
        'replaying',
      );
    }
    // Somebody else was faster.
    if (eventIds === null) continue;
    logger.warn({ group, topic, key, reason, event_ids: eventIds }, 'parked events were dropped');
    print({ group, topic, key, dropped: eventIds.length, event_ids: eventIds });
  }
}

/** @throws ConflictError when nothing of that name is parked */
async function findKeys(pool: Pool, filter: ParkedFilter): Promise<ParkedListing[]> {
  const found = await listParkedKeys(pool, filter);
  if (found.length > 0) return found;
  const where = [filter.group, filter.topic].filter(Boolean).join(' ');
  throw new ConflictError(
    `The key ${filter.key} is not parked${where === '' ? '' : ` in ${where}`}; "parked -- list" has those that are.`,
    'not_parked',
  );
}

function publicFields({ group, topic, key, events, since, reason }: ParkedListing): object {
  return { group, topic, key, events, since, reason };
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** @throws InvalidError for anything but one of the three forms */
function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      group: { type: 'string' },
      topic: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [action, key, ...rest] = positionals;
  const isComplete = action === 'list' ? key === undefined : key !== undefined;
  const isKnown = action === 'list' || action === 'replay' || action === 'drop';
  if (values.help !== true && (!isKnown || !isComplete || rest.length > 0)) {
    throw new InvalidError(USAGE);
  }
  return { help: values.help === true, action, filter: { key, ...values } };
}

async function main(): Promise<void> {
  let wanted;
  try {
    wanted = readArguments();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = WRONG_USE;
    return;
  }
  if (wanted.help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const { action, filter } = wanted;
  const work = { list, replay, drop }[action as 'list' | 'replay' | 'drop'];
  let pool: Pool | undefined;
  try {
    pool = new Pool({
      connectionString: logDatabaseUrl(),
      max: 2,
      connectionTimeoutMillis: 10_000,
      application_name: 'dak parked',
    });
    pool.on('error', () => undefined);
    await work(pool, filter);
  } catch (error) {
    const { message } = error as Error;
    process.stderr.write(
      error instanceof DomainError ? `${message}\n` : `The event log cannot be asked: ${message}\n`,
    );
    process.exitCode = 1;
  } finally {
    await pool?.end();
  }
}

void main();
