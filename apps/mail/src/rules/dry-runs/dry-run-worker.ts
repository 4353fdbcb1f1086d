import { setImmediate as turn } from 'node:timers/promises';
import type { Principal } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { classifyFailure } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import { PollingLoop } from '@dak/platform/lifecycle';
import { inSpan } from '@dak/platform/telemetry';
import { evaluateRule } from '../evaluation/evaluate-rule';
import { matchInPlace, type PatternMatcher } from '../evaluation/pattern-matcher';
import { patternTestsOf } from '../evaluation/pattern-tests';
import { neededFacts, type RuleMessage } from '../definition/rule-fields';
import { loadRuleMessages } from '../evaluation/rule-message-store';
import {
  claimDryRun,
  countPastMessages,
  saveDryRunProgress,
  selectPastMessages,
  takeBackDryRuns,
  type DryRunProgress,
  type DryRunRow,
} from './dry-run-store';

/** Rows of one round, which are held in memory and repeated after a crash; fewer when texts are loaded. */
const BATCH = 200;
const TEXT_BATCH = 40;
/** Milliseconds of matching before others get their turn. */
const SLICE_MS = 15;
const LEASE_SECONDS = 30;
const POLL_MS = 2_000;
const MAX_SAMPLES = 20;
/** Rounds that may fail one after the other. */
const MAX_ATTEMPTS = 5;

interface DryRunDeps {
  database: Database;
  blobs: BlobStore;
  patterns?: PatternMatcher;
}

export interface DryRunWorker {
  start(): void;
  wake(): void;
  stop(): Promise<void>;
}

/** Processes dry runs one at a time; progress is stored with every batch, so another process can continue. */
export function createDryRunWorker(deps: {
  database: Database;
  blobs: BlobStore;
  /** @default where it is called */
  patterns?: PatternMatcher;
  /** A UUID that names this process, the same after a restart; see `readProcessName`. */
  owner: () => Promise<string>;
  onError: (error: unknown) => void;
}): DryRunWorker {
  let owner: string | null = null;
  const loop: PollingLoop = new PollingLoop(async () => {
    if (owner === null) {
      const name = await deps.owner();
      await deps.database.asWorker((tx) => takeBackDryRuns(tx, name));
      owner = name;
    }
    const holder = owner;
    const row = await deps.database.asWorker((tx) => claimDryRun(tx, holder, LEASE_SECONDS));
    if (row === null) return POLL_MS;
    await inSpan('job dry run', { parent: null }, () =>
      workOff(deps, holder, row, () => loop.isStopping),
    );
    return 0;
  }, deps.onError);
  return loop;
}

async function workOff(
  deps: DryRunDeps,
  owner: string,
  row: DryRunRow & { organization_id: string },
  mustStop: () => boolean,
): Promise<void> {
  const progress: DryRunProgress = { ...row };
  const save = (state: DryRunProgress, hits: readonly string[]) =>
    deps.database.inTenant(row.organization_id, (tx) =>
      saveDryRunProgress(tx, row.organization_id, row.id, owner, LEASE_SECONDS, state, hits),
    );
  try {
    while (!mustStop() && progress.status === 'running') {
      const hits = await examineBatch(deps, row, progress);
      if (!(await save(progress, hits))) return;
      await turn();
    }
  } catch (error) {
    const isHopeless = classifyFailure(error) !== 'transient' && row.attempts >= MAX_ATTEMPTS;
    if (isHopeless) {
      const reason = 'The mail could not be examined. Start the dry run again.';
      await save({ ...progress, status: 'failed', error: reason }, []);
    }
    throw error;
  }
}

/** Moves `progress` on by one batch. @returns conversations of what matched */
async function examineBatch(
  { database, blobs, patterns = matchInPlace }: DryRunDeps,
  row: DryRunRow & { organization_id: string },
  progress: DryRunProgress,
): Promise<string[]> {
  const { definition, organization_id: organizationId } = row;
  const principal = principalOf(row);
  const window = { mailboxIds: definition.mailbox_ids, from: row.from_at, to: row.to_at };
  const needed = neededFacts([definition]);
  const { past, messages } = await database.inTenant(organizationId, async (tx) => {
    progress.total ??= await countPastMessages(tx, principal, window);
    const past = await selectPastMessages(
      tx,
      principal,
      window,
      progress.position,
      needed.text ? TEXT_BATCH : BATCH,
    );
    const ids = past.rows.map(({ id }) => id);
    return { past, messages: await loadRuleMessages(tx, blobs, organizationId, ids, needed) };
  });
  const hits: string[] = [];
  let sliceStart = performance.now();
  for (const { id, conversation_id, labels } of past.rows) {
    const message = messages.get(id);
    if (message === undefined) continue;
    if (performance.now() - sliceStart > SLICE_MS) {
      await turn();
      sliceStart = performance.now();
    }
    progress.examined += 1;
    const answers = await patterns.match(organizationId, patternTestsOf([definition], message));
    const { matched, conditions } = evaluateRule(definition, message, labels, answers);
    progress.condition_hits = progress.condition_hits.map(
      (count, index) => count + (conditions[index]?.matched === true ? 1 : 0),
    );
    if (!matched) continue;
    progress.matched += 1;
    hits.push(conversation_id);
    if (progress.samples.length < MAX_SAMPLES) {
      progress.samples = [...progress.samples, sampleOf(message, conversation_id)];
    }
  }
  progress.position = past.end ?? progress.position;
  if (past.end === null) progress.status = 'done';
  return hits;
}

function sampleOf(message: RuleMessage, conversationId: string): DryRunProgress['samples'][number] {
  return {
    message_id: message.id,
    conversation_id: conversationId,
    subject: message.subject.slice(0, 200).toWellFormed(),
    from: message.from?.email ?? null,
    received_at: new Date(message.receivedAt).toISOString(),
  };
}

/** The requester, with their permissions at that time. */
function principalOf(row: DryRunRow & { organization_id: string }): Principal {
  return {
    type: 'session',
    organizationId: row.organization_id,
    userId: row.user_id,
    userName: '',
    role: row.user_role,
    scopes: [],
    credentialId: row.id,
    departmentIds: row.department_ids,
  };
}
