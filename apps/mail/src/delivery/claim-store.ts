import type { Database } from '@dak/platform/postgres';
import type { DeliveryState } from '../conversations/messages/delivery-state';
import type { ClaimedDelivery } from './claimed-delivery';

export interface ClaimOptions {
  readonly owner: string;
  /** Deliveries at most. */
  readonly limit: number;
  readonly leaseSeconds: number;
  /** Deliveries of one organization at most. */
  readonly limitOfOne: number;
  /** Organizations that may get fewer, with how many; 0 = none. */
  readonly rooms: ReadonlyMap<string, number>;
}

interface ClaimedRow {
  organization_id: string;
  id: string;
  submission_id: string;
  recipient: string;
  previous_state: DeliveryState;
  was_uncertain: boolean;
  attempts: number;
  lease_epoch: number;
  position: number;
  due_since: string;
  conversation_id: string;
  mail_from: string;
  raw_sha256: string;
  is_automatic: boolean;
  at_most_once: boolean;
  cancel_if_reply: boolean;
  submitted_at: string;
  mailbox_id: string;
  readiness: ClaimedDelivery['readiness'];
  sender_domain: ClaimedDelivery['senderDomain'];
  traceparent: string | null;
}

/**
 * Organizations with something due take turns: each gets an equal share of the limit, whoever has most
 * waiting gets no more, and when there are more of them than places, chance decides. The walk from one
 * organization to the next costs one index probe each, and three more to see whether something is due.
 * Passed over are those whose outgoing mail is held, and those that have no place left here. next_attempt_at is booked before anything is dialed, so
 * that a crash cannot make an attempt that counts for nothing. When the lease of a claim is lost
 * with a crash of the server nothing has been sent yet, hence no flush of its own: the phase that
 * precedes the final dot brings it to disk.
 */
const CLAIM = `
  with recursive waiting as (
         (select organization_id
            from delivery
           where not exists (select from operations where outgoing = 'hold')
             and state in ('held', 'scheduled', 'queued', 'deferred', 'uncertain')
           order by organization_id
           limit 1)
         union all
         select (select d.organization_id
                   from delivery d
                  where d.state in ('held', 'scheduled', 'queued', 'deferred', 'uncertain')
                    and d.organization_id > w.organization_id
                  order by d.organization_id
                  limit 1)
           from waiting w
          where w.organization_id is not null),
       turn as (
         select w.organization_id, b.room, count(*) over () as organizations
           from waiting w
           left join organization o on o.organization_id = w.organization_id
           left join unnest($4::uuid[], $5::integer[]) as b (organization_id, room)
             on b.organization_id = w.organization_id
          where w.organization_id is not null
            and coalesce(o.status, 'active') = 'active' and coalesce(o.outgoing, 'run') = 'run'
            and coalesce(b.room, 1) > 0
            and exists (select
                          from delivery d
                         where d.organization_id = w.organization_id and d.priority in (0, 1, 2)
                           and d.state in ('held', 'scheduled', 'queued', 'deferred', 'uncertain')
                           and d.next_attempt_at <= now())
          order by random()
          limit $2),
       due as (
         select d.organization_id, d.id, d.state
           from turn t
          cross join (values (0), (1), (2)) as p (priority)
          cross join lateral (
                 select organization_id, id, state, next_attempt_at
                   from delivery
                  where organization_id = t.organization_id and delivery.priority = p.priority
                    and state in ('held', 'scheduled', 'queued', 'deferred', 'uncertain')
                    and next_attempt_at <= now()
                  order by next_attempt_at
                  limit least(coalesce(t.room, $6), greatest(1, $2 / t.organizations))
                    for update skip locked) d
          order by p.priority, d.next_attempt_at
          limit $2)
  update delivery d
     set state = 'sending', lease_owner = $1, lease_until = now() + make_interval(secs => $3),
         lease_epoch = d.lease_epoch + 1, parked_until = null, parked_mailbox_id = null, attempts = d.attempts + 1, phase = null, updated_at = now(),
         next_attempt_at = now() + make_interval(mins => (array[1, 5, 10, 15, 30, 60, 120, 240, 360])[least(d.attempts + 1, 9)])
    from due, submission s, mailbox m
    left join organization o on o.organization_id = m.organization_id
   where d.organization_id = due.organization_id and d.id = due.id
     and s.organization_id = d.organization_id and s.id = d.submission_id
     and m.organization_id = s.organization_id and m.id = s.mailbox_id
  returning d.organization_id, d.id, d.submission_id, d.recipient, due.state as previous_state, d.was_uncertain,
            d.attempts, d.lease_epoch, d.position, s.conversation_id, s.mailbox_id,
            greatest(coalesce(s.hold_until, s.created_at), m.released_at, o.released_at,
                     (select released_at from operations)) as due_since,
            s.mail_from, s.raw_sha256, s.is_automatic, s.at_most_once, s.cancel_if_reply,
            s.created_at as submitted_at, s.traceparent,
            case when m.deleted_at is not null then 'withdrawn' when m.status <> 'active' then 'held' else 'ready' end
              as readiness,
            case when exists (select from domain o
                               where o.organization_id = d.organization_id and o.status = 'verified'
                                 and o.name = split_part(m.address, '@', 2)) then 'owned'
                 when exists (select from domain o
                               where o.name = split_part(m.address, '@', 2) and o.is_contested)
                      and not exists (select from domain o
                                       where o.name = split_part(m.address, '@', 2) and o.status = 'verified')
                 then 'unsettled' else 'foreign' end as sender_domain`;

/** Takes the lease of deliveries that are due, of all organizations, in one round trip. */
export async function claimDeliveries(
  database: Database,
  options: ClaimOptions,
): Promise<ClaimedDelivery[]> {
  const [, rows] = await database.batchAsWorker([
    {
      name: 'delivery_claim_async',
      text: `select set_config('synchronous_commit', 'off', true)`,
      values: [],
    },
    {
      name: 'delivery_claim',
      text: CLAIM,
      values: [
        options.owner,
        options.limit,
        options.leaseSeconds,
        [...options.rooms.keys()],
        [...options.rooms.values()],
        options.limitOfOne,
      ],
    },
  ]);
  const claimed = rows as unknown as ClaimedRow[];
  return claimed.sort((a, b) => a.position - b.position).map(toClaimed);
}

function toClaimed(row: ClaimedRow): ClaimedDelivery {
  return {
    organizationId: row.organization_id,
    id: row.id,
    submissionId: row.submission_id,
    recipient: row.recipient,
    previousState: row.previous_state,
    wasUncertain: row.was_uncertain,
    attempts: row.attempts,
    epoch: row.lease_epoch,
    dueSince: row.due_since,
    conversationId: row.conversation_id,
    mailFrom: row.mail_from,
    rawSha256: row.raw_sha256,
    isAutomatic: row.is_automatic,
    atMostOnce: row.at_most_once,
    cancelIfReply: row.cancel_if_reply,
    submittedAt: row.submitted_at,
    mailboxId: row.mailbox_id,
    readiness: row.readiness,
    senderDomain: row.sender_domain,
    traceparent: row.traceparent,
  };
}
