import { MailReceived } from '@dak/contracts/events';
import { InvalidError } from '@dak/kernel';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import {
  createReadPacing,
  fromLogRecord,
  type Log,
  type LogRecord,
  type Subscription,
} from '@dak/platform/log';
import { matchInPlace } from '../evaluation/pattern-matcher';
import { COSTLY_TOGETHER, CostlyTogether } from '../evaluation/rule-patterns';
import type { Arrival } from './rule-match';
import { RULES_GROUP, runRules, type RunDeps } from './run-rules';

const TOPIC = 'mail.events.v1';
/** Mails of one transaction. */
const GROUP_SIZE = 64;
/** Conversations in work at the same time; those of an organization share transactions. */
const CONCURRENCY = 64;

export interface RuleConsumer {
  /** Begins to take mail from the log. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs the rules on every mail that arrives, in order per conversation. */
export function createRuleConsumer(deps: RunDeps & { log: Log }): RuleConsumer {
  const groups = new Map<string, GroupCommit<Arrival, null>>();
  const patterns = deps.patterns ?? matchInPlace;
  const pacing = createReadPacing({ busyMs: 20, quietMs: 200 });
  let subscription: Subscription | null = null;

  const flush = async (organizationId: string, arrivals: Arrival[]): Promise<null[]> => {
    const isCostly = patterns.isCostly(organizationId);
    try {
      await runInGroups(organizationId, arrivals, isCostly ? COSTLY_TOGETHER : GROUP_SIZE);
    } catch (error) {
      if (!(error instanceof CostlyTogether)) throw error;
      await runInGroups(organizationId, arrivals, COSTLY_TOGETHER);
    }
    return arrivals.map(() => null);
  };

  /** An organization whose expressions cost much rests between its transactions, and its transactions stay short. */
  const runInGroups = async (organizationId: string, arrivals: Arrival[], size: number) => {
    for (let from = 0; from < arrivals.length; from += size) {
      await patterns.rest(organizationId);
      await runRules(deps, organizationId, arrivals.slice(from, from + size));
    }
  };

  /** A mail that fails must not hold up those it shares a transaction with. */
  const submit = async (organizationId: string, arrival: Arrival): Promise<void> => {
    try {
      await groupOf(organizationId).submit(arrival);
    } catch {
      await runRules(deps, organizationId, [arrival]);
    }
  };

  const groupOf = (organizationId: string): GroupCommit<Arrival, null> => {
    let group = groups.get(organizationId);
    if (group === undefined) {
      group = createGroupCommit((arrivals) => flush(organizationId, arrivals), {
        maxItems: GROUP_SIZE,
      });
      groups.set(organizationId, group);
      const made = group;
      void Promise.resolve().then(() => forgetWhenIdle(organizationId, made));
    }
    return group;
  };

  const forgetWhenIdle = async (organizationId: string, group: GroupCommit<Arrival, null>) => {
    await group.idle();
    if (group.waiting === 0 && groups.get(organizationId) === group) groups.delete(organizationId);
  };

  const handle = async (records: readonly LogRecord[]): Promise<void> => {
    for (const record of records) {
      // What else lies in the topic needs no decoding.
      if (record.headers['ce_type'] !== 'mail.received') continue;
      pacing.relevant();
      const { organizationId, arrival } = toArrival(record);
      await submit(organizationId, arrival);
    }
  };

  return {
    async start() {
      subscription = await deps.log.subscribe(RULES_GROUP, [TOPIC], handle, {
        concurrency: CONCURRENCY,
        pauseMs: () => pacing.pauseMs(),
      });
    },
    async stop() {
      await subscription?.close();
    },
  };
}

/** @throws InvalidError for an event that names no message */
function toArrival(record: LogRecord): { organizationId: string; arrival: Arrival } {
  const event = fromLogRecord(record);
  const { organizationId, mailboxId, messageId } = event;
  if (mailboxId === undefined || messageId === undefined) {
    throw new InvalidError(`${event.id} names no message.`, 'undecodable');
  }
  return {
    organizationId,
    arrival: {
      eventId: event.id,
      messageId,
      mailboxId,
      occurredAt: event.occurredAt?.getTime() ?? 0,
      causationDepth: event.causationDepth,
      traceparent: event.traceparent ?? null,
      imported: MailReceived.decode(event.data).imported,
    },
  };
}
