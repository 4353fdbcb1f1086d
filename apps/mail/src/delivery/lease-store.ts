import type { Database, SqlExecutor } from '@dak/platform/postgres';
import type { ClaimedDelivery } from './claimed-delivery';

type LeaseKey = Pick<ClaimedDelivery, 'organizationId' | 'id' | 'epoch'>;

/**
 * Notes that the final dot is about to be written, durably. Returns the ids whose lease still holds;
 * the dot must not be written for any other.
 */
export async function markFinalDot(
  database: Database,
  keys: readonly LeaseKey[],
): Promise<Set<string>> {
  const [rows = []] = await database.batchAsWorker([
    {
      name: 'delivery_final_dot',
      text: `update delivery d
                set phase = 'final_dot'
               from unnest($1::uuid[], $2::uuid[], $3::integer[]) as k (organization_id, id, epoch)
              where d.organization_id = k.organization_id and d.id = k.id and d.lease_epoch = k.epoch
                and d.state = 'sending'
          returning d.id`,
      values: columns(keys),
    },
  ]);
  return new Set(rows.map((row) => row['id'] as string));
}

/** Keeps leases while a slow server takes its time. */
export async function renewLeases(
  database: Database,
  keys: readonly LeaseKey[],
  leaseSeconds: number,
): Promise<void> {
  if (keys.length === 0) return;
  await database.batchAsWorker([
    {
      name: 'delivery_renew',
      text: `update delivery d
                set lease_until = now() + make_interval(secs => $4)
               from unnest($1::uuid[], $2::uuid[], $3::integer[]) as k (organization_id, id, epoch)
              where d.organization_id = k.organization_id and d.id = k.id and d.lease_epoch = k.epoch
                and d.state = 'sending'`,
      values: [...columns(keys), leaseSeconds],
    },
  ]);
}

/** Releases claimed deliveries that were not started, because the process stops. */
export async function releaseLeases(worker: SqlExecutor, keys: readonly LeaseKey[]): Promise<void> {
  if (keys.length === 0) return;
  await worker.query(
    `update delivery d
        set state = case when attempts > 1 then 'deferred' else 'queued' end, attempts = attempts - 1,
            next_attempt_at = now(), lease_owner = null, lease_until = null
       from unnest($1::uuid[], $2::uuid[], $3::integer[]) as k (organization_id, id, epoch)
      where d.organization_id = k.organization_id and d.id = k.id and d.lease_epoch = k.epoch
        and d.state = 'sending' and d.phase is null`,
    columns(keys),
  );
}

/** Whose leases are lost: those that have run out and, with an owner, those of the owner but for `inHand`. */
export interface LostLeases {
  owner: string | null;
  /** Ids of deliveries that the owner works on. @default none */
  inHand?: readonly string[];
}

/** Organizations with lost leases. */
export async function selectOrganizationsWithLostLeases(
  worker: SqlExecutor,
  { owner, inHand = [] }: LostLeases,
): Promise<string[]> {
  const { rows } = await worker.query<{ organization_id: string }>(
    `select distinct organization_id
       from delivery
      where state = 'sending' and (lease_until < now() or (lease_owner = $1 and id <> all($2::uuid[])))`,
    [owner, inHand],
  );
  return rows.map((row) => row.organization_id);
}

/**
 * Takes back the lost leases of one organization. Before the final
 * dot nothing was accepted: another try is safe. After it the outcome is unknown: the delivery is uncertain, and
 * is tried once more only when evidence had time to come and a second copy is the lesser evil.
 * @returns the ids of their submissions, which are locked
 */
export async function takeBackLeases(
  tx: SqlExecutor,
  organizationId: string,
  options: LostLeases & { uncertainWaitSeconds: number },
): Promise<string[]> {
  const { rows } = await tx.query<{ submission_id: string }>(
    `with lost as (
            select d.organization_id, d.id, d.attempts, d.phase, d.transport, d.lease_until,
                   d.phase = 'final_dot' is true as is_unknown,
                   s.at_most_once or d.was_uncertain as is_spent
              from delivery d
              join submission s on s.organization_id = d.organization_id and s.id = d.submission_id
             where d.organization_id = $1
                and d.state = 'sending'
                and (d.lease_until < now() or (d.lease_owner = $2 and d.id <> all($4::uuid[])))
               for update of d, s skip locked),
          attempt as (
            insert into delivery_attempt (organization_id, delivery_id, attempt, started_at, finished_at, transport,
                                          phase, outcome, diagnostic)
            select organization_id, id, attempts, least(lease_until, now()), now(), coalesce(transport, ''), phase,
                   case when is_unknown then 'ambiguous' else 'lost' end, 'The sending process ended'
              from lost
                on conflict do nothing)
     update delivery d
        set state           = case when lost.is_unknown then 'uncertain' else 'deferred' end,
            was_uncertain   = d.was_uncertain or lost.is_unknown,
            next_attempt_at = case when not lost.is_unknown then now()
                                   when lost.is_spent then null
                                   else now() + make_interval(secs => $3) end,
            diagnostic      = case when lost.is_unknown
                                   then 'The sending process ended before the answer to the final dot was known'
                                   else 'The sending process ended before the message was handed over' end,
            lease_owner = null, lease_until = null, updated_at = now()
       from lost
      where d.organization_id = lost.organization_id and d.id = lost.id
  returning d.submission_id`,
    [organizationId, options.owner, options.uncertainWaitSeconds, options.inHand ?? []],
  );
  return [...new Set(rows.map((row) => row.submission_id))];
}

function columns(keys: readonly LeaseKey[]): [string[], string[], number[]] {
  return [
    keys.map((key) => key.organizationId),
    keys.map((key) => key.id),
    keys.map((key) => key.epoch),
  ];
}
