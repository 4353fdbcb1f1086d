import type { Database, PreparedStatement } from '@dak/platform/postgres';
import type { EndpointRow } from '../endpoints/endpoint-row';
import { NEW_DELIVERIES, type NewDelivery } from './delivery-row';
import type { EndpointInterest } from './match-endpoints';
import { NEW_MESSAGES, type MessageRow } from './message-row';

/** An endpoint that may get events. */
export interface InterestedEndpoint extends EndpointInterest {
  organizationId: string;
  ownerDepartmentIds: readonly string[];
  ordering: 'none' | 'conversation';
  /** Otherwise its deliveries are canceled at once and kept for a replay. */
  isActive: boolean;
  /** Changes with everything that an attempt depends on; its lane compares it with its own. */
  stamp: string;
}

/** It covers the latest secret in force, because a rotation must reach the signing process at once. */
export const STAMP = `e.version || ':' || coalesce((
         select s.id::text from secret s
          where s.organization_id = e.organization_id and (s.endpoint_id = e.id or s.endpoint_id is null)
          order by s.id desc limit 1), '')`;

/** Deactivated owners and suspended organizations get nothing. */
const INTERESTED = `
  select e.organization_id, e.id, e.owner_user_id, p.role, p.department_ids, e.event_types, e.mailbox_ids,
         e.ordering, e.status, e.maker_scopes, e.created_at, ${STAMP} as stamp
    from endpoint e
    join person p on p.organization_id = e.organization_id and p.user_id = e.owner_user_id and p.active
    left join organization o on o.organization_id = e.organization_id
   where e.organization_id = any($1::uuid[])
     and e.enabled
     and coalesce(o.status, 'active') = 'active'`;

interface InterestedRow extends Pick<
  EndpointRow,
  | 'id'
  | 'owner_user_id'
  | 'event_types'
  | 'mailbox_ids'
  | 'ordering'
  | 'status'
  | 'maker_scopes'
  | 'created_at'
> {
  organization_id: string;
  role: string;
  department_ids: string[];
  stamp: string;
}

/** Endpoints by organization. */
export async function selectInterested(
  database: Database,
  organizationIds: readonly string[],
): Promise<Map<string, InterestedEndpoint[]>> {
  const [rows] = await database.batchAsWorker([
    { name: 'webhook_interested', text: INTERESTED, values: [organizationIds] },
  ]);
  const endpoints = (rows as unknown as InterestedRow[]).map((row): InterestedEndpoint => ({
    organizationId: row.organization_id,
    endpointId: row.id,
    ownerUserId: row.owner_user_id,
    ownerIsAdmin: row.role !== 'user',
    ownerDepartmentIds: row.department_ids,
    eventTypes: row.event_types,
    mailboxIds: row.mailbox_ids,
    makerScopes: row.maker_scopes,
    createdAt: Date.parse(row.created_at),
    ordering: row.ordering,
    isActive: row.status === 'active',
    stamp: row.stamp,
  }));
  return Map.groupBy(endpoints, ({ organizationId }) => organizationId);
}

const INSERT_MESSAGES = `
  insert into message (${NEW_MESSAGES.names.join(', ')}, created_at)
  select ${NEW_MESSAGES.list('m', { body: `convert_to(m.body, 'UTF8')` })}, now()
    from ${NEW_MESSAGES.from('m', 1)}
      on conflict do nothing`;

/** The endpoint may have been disabled since it was read. */
const INSERT_DELIVERIES = `
  insert into delivery (${NEW_DELIVERIES.names.join(', ')}, next_at, created_at, finished_at)
  select ${NEW_DELIVERIES.list('d', {
    state: `case when e.status = 'active' then d.state else 'canceled' end`,
    error_code: `case when e.status = 'active' then d.error_code else 'endpoint_disabled' end`,
  })},
         now(), now(), case when d.state <> 'pending' or e.status <> 'active' then now() end
    from ${NEW_DELIVERIES.from('d', 1)}
    join endpoint e on e.organization_id = d.organization_id and e.id = d.endpoint_id
      on conflict do nothing
  returning id, state`;

export function insertMessages(messages: readonly MessageRow[]): PreparedStatement {
  const rows = messages.map((message) => ({ ...message, body: message.body.toString('utf8') }));
  return {
    name: 'webhook_insert_messages',
    text: INSERT_MESSAGES,
    values: NEW_MESSAGES.values(rows),
  };
}

/**
 * Leaves existing rows as they are. Its result is the id and the state of each new row: canceled where the endpoint has
 * been disabled since it was read, no row where it has been deleted.
 */
export function insertDeliveries(deliveries: readonly NewDelivery[]): PreparedStatement {
  return {
    name: 'webhook_insert_deliveries',
    text: INSERT_DELIVERIES,
    values: NEW_DELIVERIES.values(deliveries),
  };
}
