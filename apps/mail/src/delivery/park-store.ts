import type { Database } from '@dak/platform/postgres';
import type { ClaimedDelivery } from './claimed-delivery';

/** After this time parked deliveries are checked again, whatever happened meanwhile. */
const PARKED_FOR_MINUTES = 60;
/** Deliveries of one round: what waited goes on at a pace. */
const RELEASED_AT_ONCE = 100;

const PARK = `
  update delivery d
     set state = k.state, attempts = d.attempts - 1, lease_owner = null, lease_until = null, updated_at = now(),
         next_attempt_at = now() + make_interval(mins => $6), parked_until = now() + make_interval(mins => $6),
         parked_mailbox_id = k.mailbox_id
    from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::uuid[])
         as k (organization_id, id, epoch, state, mailbox_id)
   where d.organization_id = k.organization_id and d.id = k.id and d.lease_epoch = k.epoch
     and d.state = 'sending' and d.phase is null`;

/** Gives back what must not leave while its mailbox is disabled: nothing was tried, so no attempt counts. */
export async function parkDeliveries(
  database: Database,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  await database.batchAsWorker([
    {
      name: 'delivery_park',
      text: PARK,
      values: [
        deliveries.map(({ organizationId }) => organizationId),
        deliveries.map(({ id }) => id),
        deliveries.map(({ epoch }) => epoch),
        // Its time to be undone is over; a schedule that has come is still one.
        deliveries.map(({ previousState }) =>
          previousState === 'held' ? 'queued' : previousState,
        ),
        deliveries.map(({ mailboxId }) => mailboxId),
        PARKED_FOR_MINUTES,
      ],
    },
  ]);
}

/** The walk from one mailbox to the next costs one index probe each, however much it has parked. */
const RELEASE = `
  with recursive parking as (
         (select organization_id, parked_mailbox_id as mailbox_id
            from delivery
           where parked_mailbox_id is not null
           order by organization_id, parked_mailbox_id
           limit 1)
         union all
         select n.organization_id, n.parked_mailbox_id
           from parking p
          cross join lateral (
                 select organization_id, parked_mailbox_id
                   from delivery
                  where parked_mailbox_id is not null
                    and (organization_id, parked_mailbox_id) > (p.organization_id, p.mailbox_id)
                  order by organization_id, parked_mailbox_id
                  limit 1) n),
       freed as (
         select d.organization_id, d.id
           from parking p
           join mailbox m on m.organization_id = p.organization_id and m.id = p.mailbox_id
          cross join lateral (
                 select organization_id, id
                   from delivery
                  where organization_id = p.organization_id and parked_mailbox_id = p.mailbox_id
                  limit $1
                    for update skip locked) d
          where m.deleted_at is not null or m.status = 'active'
          limit $1)
  update delivery d
     set next_attempt_at   = case when d.next_attempt_at = d.parked_until then now() else d.next_attempt_at end,
         parked_until      = null,
         parked_mailbox_id = null
    from freed
   where d.organization_id = freed.organization_id and d.id = freed.id
  returning d.id`;

/** Makes deliveries due whose mailbox is active again, or deleted. @returns how many */
export async function releaseParked(database: Database): Promise<number> {
  const [rows = []] = await database.batchAsWorker([
    { name: 'delivery_release_parked', text: RELEASE, values: [RELEASED_AT_ONCE] },
  ]);
  return rows.length;
}
