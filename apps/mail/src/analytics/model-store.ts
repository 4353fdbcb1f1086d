import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../db/sql-parameters';
import type { ConversationState } from './conversation-state';
import type { EntryContent, JournalEntry } from './journal-entry';
import type { Fact } from './project-entry';

/** Which rows of an organization are its current model, and its contents. */
export interface ModelRow {
  organization_id: string;
  generation: number;
  as_of: string | null;
  position: number;
}

export interface PlacedEntry {
  readonly position: number;
  readonly entry: JournalEntry;
}

export interface PlacedFact extends Fact {
  readonly position: number;
  readonly ordinal: number;
  readonly entry: JournalEntry;
}

/** Locks the models of these organizations, and makes those that are missing. In one order, so that two never wait crosswise. */
export async function lockModels(
  tx: SqlExecutor,
  organizationIds: readonly string[],
): Promise<ModelRow[]> {
  const select = () =>
    tx.query<ModelRow>(
      `select organization_id, generation, as_of, position
         from analytics_model
        where organization_id = any($1::uuid[])
        order by organization_id
          for update`,
      [organizationIds],
    );
  const { rows } = await select();
  if (rows.length === organizationIds.length) return rows;
  await tx.query(
    `insert into analytics_model (organization_id)
     select id from unnest($1::uuid[]) as id order by id
         on conflict do nothing`,
    [organizationIds],
  );
  return (await select()).rows;
}

/** Adds events to the journal; @returns those that were not in it, in their order. */
export async function appendToJournal(
  tx: SqlExecutor,
  entries: readonly JournalEntry[],
): Promise<PlacedEntry[]> {
  const json = JSON.stringify(
    entries.map((entry, place) => ({
      place,
      organization_id: entry.organizationId,
      event_id: entry.eventId,
      occurred_at: entry.occurredAt,
      kind: entry.content.kind,
      mailbox_id: entry.mailboxId,
      department_id: entry.departmentId,
      conversation_id: entry.conversationId,
      message_id: entry.messageId,
      actor_type: entry.actor.type,
      actor_id: entry.actor.id,
      actor_name: entry.actor.name,
      facts: entry.content.facts,
    })),
    storable,
  );
  const { rows } = await tx.query<{ organization_id: string; event_id: string; position: number }>(
    `insert into analytics_journal (organization_id, event_id, occurred_at, kind, mailbox_id, department_id,
                                    conversation_id, message_id, actor_type, actor_id, actor_name, facts)
     select organization_id, event_id, occurred_at, kind, mailbox_id, department_id, conversation_id, message_id,
            actor_type, actor_id, actor_name, facts
       from json_to_recordset($1) as e (place integer, organization_id uuid, event_id uuid, occurred_at timestamptz,
                                        kind text, mailbox_id uuid, department_id uuid, conversation_id uuid,
                                        message_id uuid, actor_type text, actor_id text, actor_name text, facts jsonb)
      order by place
         on conflict do nothing
  returning organization_id, event_id, position`,
    [json],
  );
  const positions = new Map(
    rows.map((row) => [`${row.organization_id}:${row.event_id}`, row.position]),
  );
  return entries.flatMap((entry) => {
    const key = `${entry.organizationId}:${entry.eventId}`;
    const position = positions.get(key);
    // A batch may hold an event twice; the first stands.
    positions.delete(key);
    return position === undefined ? [] : [{ position, entry }];
  });
}

interface JournalRow {
  organization_id: string;
  event_id: string;
  position: number;
  occurred_at: string;
  kind: string;
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  message_id: string | null;
  actor_type: string;
  actor_id: string;
  actor_name: string;
  facts: unknown;
}

const JOURNAL_COLUMNS = `
  organization_id, event_id, position, occurred_at, kind, mailbox_id, department_id, conversation_id,
  message_id, actor_type, actor_id, actor_name, facts`;

/** The next entries of an organization after a position, in order. */
export async function selectJournal(
  tx: SqlExecutor,
  organizationId: string,
  after: number,
  limit: number,
): Promise<PlacedEntry[]> {
  const { rows } = await tx.query<JournalRow>(
    `select ${JOURNAL_COLUMNS}
       from analytics_journal
      where organization_id = $1 and position > $2
      order by position
      limit $3`,
    [organizationId, after, limit],
  );
  return rows.map((row) => ({ position: row.position, entry: toEntry(row) }));
}

/** The journal's entries of these events, by `organization:event`. */
export async function selectEntries(
  tx: SqlExecutor,
  events: readonly Pick<JournalEntry, 'organizationId' | 'eventId'>[],
): Promise<Map<string, JournalEntry>> {
  const { rows } = await tx.query<JournalRow>(
    `select ${JOURNAL_COLUMNS}
       from unnest($1::uuid[], $2::uuid[]) as e (organization_id, event_id)
       join analytics_journal using (organization_id, event_id)`,
    [events.map(({ organizationId }) => organizationId), events.map(({ eventId }) => eventId)],
  );
  return new Map(rows.map((row) => [`${row.organization_id}:${row.event_id}`, toEntry(row)]));
}

function toEntry(row: JournalRow): JournalEntry {
  return {
    organizationId: row.organization_id,
    eventId: row.event_id,
    occurredAt: row.occurred_at,
    mailboxId: row.mailbox_id,
    departmentId: row.department_id,
    conversationId: row.conversation_id,
    messageId: row.message_id,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    content: { kind: row.kind, facts: row.facts } as EntryContent,
  };
}

interface ConversationRow {
  organization_id: string;
  conversation_id: string;
  mailbox_id: string;
  department_id: string | null;
  assignee_type: string | null;
  assignee_id: string | null;
  status: string;
  disposition: string;
  merged_into_id: string | null;
  in_backlog: boolean;
  unresolved_since: string | null;
  awaiting_since: string | null;
  is_answered: boolean;
}

/** States by conversation; `places` of one generation per organization. */
export async function selectStates(
  tx: SqlExecutor,
  places: readonly { organizationId: string; generation: number; conversationId: string }[],
): Promise<Map<string, ConversationState>> {
  const { rows } = await tx.query<ConversationRow>(
    `select c.organization_id, c.conversation_id, c.mailbox_id, c.department_id, c.assignee_type, c.assignee_id,
            c.status, c.disposition, c.merged_into_id, c.in_backlog, c.unresolved_since, c.awaiting_since, c.is_answered
       from unnest($1::uuid[], $2::integer[], $3::uuid[]) as p (organization_id, generation, conversation_id)
       join analytics_conversation c using (organization_id, generation, conversation_id)`,
    [
      places.map((place) => place.organizationId),
      places.map((place) => place.generation),
      places.map((place) => place.conversationId),
    ],
  );
  return new Map(
    rows.map((row) => [
      `${row.organization_id}:${row.conversation_id}`,
      {
        conversationId: row.conversation_id,
        mailboxId: row.mailbox_id,
        departmentId: row.department_id,
        assigneeType: row.assignee_type,
        assigneeId: row.assignee_id,
        status: row.status,
        disposition: row.disposition,
        mergedIntoId: row.merged_into_id,
        inBacklog: row.in_backlog,
        unresolvedSince: row.unresolved_since,
        awaitingSince: row.awaiting_since,
        isAnswered: row.is_answered,
      },
    ]),
  );
}

export async function saveStates(
  tx: SqlExecutor,
  states: readonly { organizationId: string; generation: number; state: ConversationState }[],
): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map(({ organizationId, generation, state }) => ({
    organization_id: organizationId,
    generation,
    conversation_id: state.conversationId,
    mailbox_id: state.mailboxId,
    department_id: state.departmentId,
    assignee_type: state.assigneeType,
    assignee_id: state.assigneeId,
    status: state.status,
    disposition: state.disposition,
    merged_into_id: state.mergedIntoId,
    in_backlog: state.inBacklog,
    unresolved_since: state.unresolvedSince,
    awaiting_since: state.awaitingSince,
    is_answered: state.isAnswered,
  }));
  await tx.query(
    `${insertOfRows('analytics_conversation', rows)}
         on conflict (organization_id, generation, conversation_id)
         do update set mailbox_id       = excluded.mailbox_id,
                       department_id    = excluded.department_id,
                       assignee_type    = excluded.assignee_type,
                       assignee_id      = excluded.assignee_id,
                       status           = excluded.status,
                       disposition      = excluded.disposition,
                       merged_into_id   = excluded.merged_into_id,
                       in_backlog       = excluded.in_backlog,
                       unresolved_since = excluded.unresolved_since,
                       awaiting_since   = excluded.awaiting_since,
                       is_answered      = excluded.is_answered`,
    [JSON.stringify(rows, storable)],
  );
}

export async function insertFacts(
  tx: SqlExecutor,
  facts: readonly (PlacedFact & { generation: number })[],
): Promise<void> {
  if (facts.length === 0) return;
  const rows = facts.map((fact) => ({
    organization_id: fact.entry.organizationId,
    generation: fact.generation,
    position: fact.position,
    ordinal: fact.ordinal,
    measure: fact.measure,
    at: fact.at,
    mailbox_id: fact.entry.mailboxId,
    department_id: fact.departmentId,
    conversation_id: fact.entry.conversationId,
    message_id: fact.entry.messageId,
    assignee_type: fact.assigneeType,
    assignee_id: fact.assigneeId,
    actor_type: fact.entry.actor.type,
    actor_id: fact.entry.actor.id,
    amount: fact.amount,
    milliseconds: fact.milliseconds,
    detail: fact.detail,
  }));
  await tx.query(insertOfRows('analytics_fact', rows), [JSON.stringify(rows, storable)]);
}

export interface PersonName {
  readonly organizationId: string;
  readonly generation: number;
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

/** The last name stands. */
export async function savePeople(tx: SqlExecutor, people: readonly PersonName[]): Promise<void> {
  if (people.length === 0) return;
  const rows = people.map(({ organizationId, ...person }) => ({
    organization_id: organizationId,
    ...person,
  }));
  await tx.query(
    `${insertOfRows('analytics_person', rows)}
      order by organization_id, type, id
         on conflict (organization_id, generation, type, id)
         do update set name = excluded.name
             where excluded.name <> analytics_person.name`,
    [JSON.stringify(rows, storable)],
  );
}

export async function saveModels(tx: SqlExecutor, models: readonly ModelRow[]): Promise<void> {
  await tx.query(
    `update analytics_model m
        set generation = r.generation, as_of = r.as_of, position = r.position
       from json_to_recordset($1) as r (organization_id uuid, generation integer, as_of timestamptz, position bigint)
      where m.organization_id = r.organization_id`,
    [JSON.stringify(models)],
  );
}
