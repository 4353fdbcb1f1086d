import type { Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import type { Database } from '@dak/platform/postgres';
import { requireContent } from '../spool/spool';
import type { AttemptResult } from './attempt-result';
import { recordResults } from './record-results';

export interface AttemptRecorder {
  /** Resolves when the results, all of one organization, are durable. */
  record(results: readonly AttemptResult[]): Promise<void>;
}

const MAX_ORGANIZATIONS = 1000;
/** Nobody waits for a result: the journal has it already. */
const GATHER_MS = 20;

/** Results that end while one transaction runs share the next one, per organization. */
export function createAttemptRecorder(deps: {
  database: Database;
  blobs: Pick<BlobStore, 'requirePresent'>;
  clock: Clock;
  onSpooled: () => void;
  /** These are durable. */
  onRecorded?: (results: readonly AttemptResult[]) => void;
}): AttemptRecorder {
  const groups = new Map<string, GroupCommit<readonly AttemptResult[], void>>();

  const open = (organizationId: string) =>
    createGroupCommit<readonly AttemptResult[], void>(
      async (waiting) => {
        const results = waiting.flat();
        const now = deps.clock();
        await deps.database.inTenant(organizationId, async (tx) => {
          await recordResults(tx, organizationId, results, now);
          requireContent(
            deps.blobs,
            results.flatMap(({ spool }) => spool ?? []),
          );
        });
        deps.onRecorded?.(results);
        if (results.some(({ spool }) => spool !== null)) deps.onSpooled();
        return waiting.map(() => undefined);
      },
      { maxItems: 100, gatherMs: GATHER_MS },
    );

  return {
    record(results) {
      const { organizationId } = results[0]!.delivery;
      let group = groups.get(organizationId);
      if (group === undefined) {
        // A group dropped here still finishes its entries.
        if (groups.size >= MAX_ORGANIZATIONS) groups.clear();
        group = open(organizationId);
        groups.set(organizationId, group);
      }
      return group.submit(results);
    },
  };
}
