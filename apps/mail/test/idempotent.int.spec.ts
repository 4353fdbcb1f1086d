import type { Document } from '@dak/contracts/mail';
import { ConflictError, uuidv7 } from '@dak/kernel';
import { idempotentGroup, type IdempotentOutcome } from '@dak/platform/idempotency';
import { contextOf, openMailDatabase, principal, type MailDatabase } from './mail-fixtures';

let mail: MailDatabase;
const caller = principal();

beforeAll(async () => {
  mail = await openMailDatabase();
});
afterAll(() => mail.close());

function request(key: string | null, requestHash = 'same') {
  return contextOf(caller, key === null ? null : { route: 'POST /things', key, requestHash });
}

function documentOf(id: string): Document {
  return { id, version: 3, json: Buffer.from(`{"id":"${id}"}`), replayed: false };
}

/** Runs a group whose effects make documents named by their index, and tells which of them ran. */
async function runGroup(
  contexts: ReturnType<typeof request>[],
  effect = async (index: number) => documentOf(`made-${index}`),
): Promise<{ outcomes: IdempotentOutcome[]; ran: number[] }> {
  const ran: number[] = [];
  const outcomes = await mail.database.inTenant(caller.organizationId, (tx) =>
    idempotentGroup(tx, contexts, (index) => {
      ran.push(index);
      return effect(index);
    }),
  );
  return { outcomes, ran };
}

function summary(outcomes: IdempotentOutcome[]) {
  return outcomes.map((outcome) =>
    'error' in outcome
      ? outcome.error.code
      : `${outcome.document.id}${outcome.document.replayed ? ', replayed' : ''}`,
  );
}

describe('requests that share a transaction', () => {
  it('run once per key, also when a key comes twice in the group', async () => {
    const key = uuidv7();
    const { outcomes, ran } = await runGroup([
      request(key),
      request(key),
      request(uuidv7()),
      request(null),
      request(key, 'other'),
    ]);
    expect(ran).toEqual([0, 2, 3]);
    expect(summary(outcomes)).toEqual([
      'made-0',
      'made-0, replayed',
      'made-2',
      'made-3',
      'idempotency_mismatch',
    ]);
  });

  it('get the stored answers of earlier groups, bytes and version included', async () => {
    const key = uuidv7();
    await runGroup([request(key)]);
    const { outcomes, ran } = await runGroup([request(uuidv7()), request(key)]);
    expect(ran).toEqual([0]);
    expect(outcomes[1]).toEqual({ document: { ...documentOf('made-0'), replayed: true } });
  });

  it('are refused one by one, and a refused one may try again', async () => {
    const key = uuidv7();
    const refused = await runGroup([request(key), request(uuidv7())], async (index) => {
      if (index === 0) throw new ConflictError('Somebody was faster.', 'stale_reply');
      return documentOf('kept');
    });
    expect(summary(refused.outcomes)).toEqual(['stale_reply', 'kept']);
    expect(summary((await runGroup([request(key)])).outcomes)).toEqual(['made-0']);
  });

  it('are told when the same request is still running elsewhere', async () => {
    const key = uuidv7();
    let inner: Awaited<ReturnType<typeof runGroup>> | undefined;
    await runGroup([request(key)], async () => {
      inner = await runGroup([request(key), request(uuidv7())]);
      return documentOf('outer');
    });
    expect(summary(inner!.outcomes)).toEqual(['idempotency_in_progress', 'made-1']);
  });
});
