import { seesWholeOrganization, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { MailTransaction } from '../db/models';
import { SqlParameters } from '../db/sql-parameters';
import { RESTORE_DAYS } from './mailbox';
import { MAILBOX, MAILBOX_COLUMNS, type MailboxRow } from './mailbox-row';
import { mailboxIsOpen, type Access } from './visibility-store';

/** Data of a mailbox record beyond its own row. */
export interface MailboxDetails {
  id: string;
  department_ids: string[];
  assigned_user_ids: string[];
  counts: Record<string, number> | null;
  unread: number | null;
  storage_bytes: number | null;
  drafts: number;
  awaiting_approval: number;
  sends_last_hour: number;
  sends_today: number;
}

export interface MailboxAssignments {
  users: { user_id: string; access: Access }[];
  department_ids: string[];
}

export async function insertMailbox(
  tx: SqlExecutor,
  organizationId: string,
  row: MailboxRow,
): Promise<void> {
  await tx.query(MAILBOX.insert, [toJson(organizationId, row)]);
}

/** The columns that a caller can change; also locks the row against a concurrent version. */
export async function updateMailbox(
  tx: SqlExecutor,
  organizationId: string,
  row: MailboxRow,
): Promise<void> {
  await tx.query(
    `update mailbox m
        set ${MAILBOX.assignments('r')}
       from json_populate_recordset(null::mailbox, $2) r
      where m.organization_id = $1 and m.id = r.id`,
    [organizationId, toJson(organizationId, row)],
  );
}

function toJson(organizationId: string, row: MailboxRow): string {
  return JSON.stringify([{ ...row, organization_id: organizationId }]);
}

/** True while a mailbox that was deleted can still be restored to the address. */
export async function isReserved(
  tx: SqlExecutor,
  organizationId: string,
  address: string,
): Promise<boolean> {
  const { rows } = await tx.query(
    `select
       from mailbox
      where organization_id = $1 and address = $2
        and deleted_at > now() - make_interval(days => ${RESTORE_DAYS})
      limit 1`,
    [organizationId, address],
  );
  return rows.length > 0;
}

/** Serializes changes of one mailbox. */
export async function lockMailbox(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<void> {
  await tx.query('select from mailbox where organization_id = $1 and id = $2 for update', [
    organizationId,
    id,
  ]);
}

export async function selectByClientId(
  tx: SqlExecutor,
  principal: Principal,
  clientId: string,
): Promise<(MailboxRow & { is_open: boolean }) | null> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const client = parameters.add(clientId);
  const isOpen = mailboxIsOpen(principal, 'read', 'm.id', parameters);
  const { rows } = await tx.query<MailboxRow & { is_open: boolean }>(
    `select ${MAILBOX_COLUMNS}, ${isOpen} as is_open
       from mailbox m
      where m.organization_id = ${organization} and m.client_id = ${client} and m.deleted_at is null`,
    parameters.values,
  );
  return rows[0] ?? null;
}

/** A deleted mailbox that can still be restored. */
export async function selectDeleted(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
): Promise<MailboxRow | null> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const mailbox = parameters.add(id);
  const isOpen = mailboxIsOpen(principal, 'send', 'm.id', parameters);
  const { rows } = await tx.query<MailboxRow>(
    `select ${MAILBOX_COLUMNS}
       from mailbox m
      where m.organization_id = ${organization} and m.id = ${mailbox} and ${isOpen}
        and m.deleted_at > now() - make_interval(days => ${RESTORE_DAYS})
        for update`,
    parameters.values,
  );
  return rows[0] ?? null;
}

export interface MailboxListFilter {
  query: string;
  includeDeleted: boolean;
}

/** Ordered by address; one row more than `limit` is not added here. */
export async function selectMailboxes(
  tx: SqlExecutor,
  principal: Principal,
  filter: MailboxListFilter,
  window: { limit: number; offset: number; after: readonly unknown[] | null },
): Promise<{ rows: MailboxRow[]; total: number }> {
  const parameters = new SqlParameters();
  const conditions = [
    `m.organization_id = ${parameters.add(principal.organizationId)}`,
    mailboxIsOpen(principal, 'read', 'm.id', parameters),
    filter.includeDeleted
      ? `(m.deleted_at is null or m.deleted_at > now() - make_interval(days => ${RESTORE_DAYS}))`
      : 'm.deleted_at is null',
  ];
  if (filter.query !== '') {
    const pattern = parameters.add(`%${filter.query.replace(/[\\%_]/g, '\\$&')}%`);
    conditions.push(`(m.address ilike ${pattern} or m.display_name ilike ${pattern})`);
  }
  const where = conditions.join(' and ');
  const { rows: counts } = await tx.query<{ total: number }>(
    `select count(*) as total from mailbox m where ${where}`,
    parameters.values,
  );
  const after =
    window.after === null
      ? ''
      : `and (m.address, m.id) > (${parameters.add(window.after[0])}, ${parameters.add(window.after[1])}::uuid)`;
  const { rows } = await tx.query<MailboxRow>(
    `select ${MAILBOX_COLUMNS}
       from mailbox m
      where ${where} ${after}
      order by m.address, m.id
      limit ${parameters.add(window.limit)} offset ${parameters.add(window.offset)}`,
    parameters.values,
  );
  return { rows, total: counts[0]?.total ?? 0 };
}

/**
 * @param hourFloor smallest UUIDv7 of an hour ago: submission ids are time-ordered, so the index answers
 * @param dayFloor smallest UUIDv7 of this UTC day
 */
export async function selectMailboxDetails(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
  hourFloor: string,
  dayFloor: string,
): Promise<Map<string, MailboxDetails>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<MailboxDetails>(
    `select b.id,
            (select coalesce(jsonb_agg(a.department_id order by a.department_id), '[]') from mailbox_department a
              where a.organization_id = $1 and a.mailbox_id = b.id) as department_ids,
            (select coalesce(jsonb_agg(a.user_id order by a.user_id), '[]') from mailbox_user a
              where a.organization_id = $1 and a.mailbox_id = b.id) as assigned_user_ids,
            t.counts, t.unread, t.storage_bytes,
            (select count(*) from draft d where d.organization_id = $1 and d.mailbox_id = b.id) as drafts,
            (select count(*) from submission s
              where s.organization_id = $1 and s.mailbox_id = b.id and s.finished_at is null
                and s.hold_reason = 'approval') as awaiting_approval,
            u.sends_last_hour, u.sends_today
       from unnest($2::uuid[]) as b(id)
      cross join lateral (
            select jsonb_object_agg(s.status, s.conversations) filter (where s.disposition = 'normal') as counts,
                   sum(s.unread) filter (where s.disposition = 'normal')::bigint as unread,
                   sum(s.size_bytes)::bigint as storage_bytes
              from (select c.status, c.disposition, sum(c.conversations) as conversations, sum(c.unread) as unread,
                           sum(c.size_bytes) as size_bytes
                      from conversation_tally c
                     where c.organization_id = $1 and c.mailbox_id = b.id
                     group by c.status, c.disposition) s) t
      cross join lateral (
            select count(*) as sends_today, count(*) filter (where s.id >= $3) as sends_last_hour
              from submission s
             where s.organization_id = $1 and s.mailbox_id = b.id and s.id >= least($3::uuid, $4::uuid)
               and s.status <> 'canceled') u`,
    [organizationId, ids, hourFloor, dayFloor],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export async function selectAssignments(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
): Promise<MailboxAssignments> {
  const { rows: users } = await tx.query<{ user_id: string; access: Access }>(
    `select user_id, access from mailbox_user where organization_id = $1 and mailbox_id = $2 order by user_id`,
    [organizationId, mailboxId],
  );
  const { rows: departments } = await tx.query<{ department_id: string }>(
    `select department_id from mailbox_department where organization_id = $1 and mailbox_id = $2 order by department_id`,
    [organizationId, mailboxId],
  );
  return { users, department_ids: departments.map((row) => row.department_id) };
}

/** Absent fields stay unchanged. */
export async function replaceAssignments(
  { db }: MailTransaction,
  organizationId: string,
  mailboxId: string,
  { users, department_ids }: Partial<MailboxAssignments>,
): Promise<void> {
  const of = { organizationId, mailboxId };
  if (users !== undefined) {
    await db.mailboxUser.deleteMany({ where: of });
    await db.mailboxUser.createMany({
      data: users.map(({ user_id: userId, access }) => ({ ...of, userId, access })),
    });
  }
  if (department_ids !== undefined) {
    await db.mailboxDepartment.deleteMany({ where: of });
    await db.mailboxDepartment.createMany({
      data: department_ids.map((departmentId) => ({ ...of, departmentId })),
    });
  }
}

/** Mail that is scheduled or waits for a decision. */
export async function countUndecided(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
): Promise<{ scheduled: number; approvals: number }> {
  const { rows } = await tx.query<{ scheduled: number; approvals: number }>(
    `select count(*) filter (where hold_reason = 'scheduled') as scheduled,
            count(*) filter (where hold_reason = 'approval') as approvals
       from submission
      where organization_id = $1 and mailbox_id = $2 and finished_at is null`,
    [organizationId, mailboxId],
  );
  return rows[0]!;
}

export async function selectVisibleMailboxIds(
  tx: SqlExecutor,
  principal: Principal,
): Promise<string[]> {
  if (seesWholeOrganization(principal)) return [];
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const isOpen = mailboxIsOpen(principal, 'read', 'm.id', parameters);
  const { rows } = await tx.query<{ id: string }>(
    `select m.id from mailbox m
      where m.organization_id = ${organization} and m.deleted_at is null and ${isOpen}
      order by m.id`,
    parameters.values,
  );
  return rows.map((row) => row.id);
}

/** True when mail of the mailbox may end with the signature: its own, or one of the organization. */
export async function hasSignature(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  signatureId: string,
): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1
       from signature
      where organization_id = $1 and id = $2 and (mailbox_id is null or mailbox_id = $3)`,
    [organizationId, signatureId, mailboxId],
  );
  return rows.length > 0;
}
