import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationState } from './conversation-state';
import type { JournalEntry } from './journal-entry';
import {
  appendToJournal,
  insertFacts,
  lockModels,
  saveModels,
  savePeople,
  saveStates,
  selectStates,
  type PersonName,
  type PlacedEntry,
  type PlacedFact,
} from './model-store';
import { projectEntry } from './project-entry';

/** An event as it comes from the log; without an entry when nothing of it is counted. */
export interface TakenEvent {
  readonly organizationId: string;
  readonly occurredAt: string;
  readonly entry: JournalEntry | null;
}

/**
 * Takes events into journal and model, in one transaction of a worker, however many organizations and
 * conversations they are of. An event that is in the journal changes nothing, so that repetitions of
 * the log have no effect. Events of one conversation have to come in their order.
 */
export async function takeEvents(tx: SqlExecutor, events: readonly TakenEvent[]): Promise<void> {
  const organizationIds = [...new Set(events.map(({ organizationId }) => organizationId))];
  const models = await lockModels(tx, organizationIds);
  const placed = await appendToJournal(
    tx,
    events.flatMap(({ entry }) => entry ?? []),
  );
  const generations = new Map(models.map((row) => [row.organization_id, row.generation]));
  await projectEntries(tx, generations, placed);
  const byOrganization = Map.groupBy(placed, ({ entry }) => entry.organizationId);
  await saveModels(
    tx,
    models.map((model) => ({
      ...model,
      as_of: events
        .filter(({ organizationId }) => organizationId === model.organization_id)
        .reduce<string | null>((latest, event) => later(latest, event.occurredAt), model.as_of),
      position: byOrganization.get(model.organization_id)?.at(-1)?.position ?? model.position,
    })),
  );
}

/** Adds journal entries to the generation of their organization; the caller holds the locks of the models. */
export async function projectEntries(
  tx: SqlExecutor,
  generations: ReadonlyMap<string, number>,
  placed: readonly PlacedEntry[],
): Promise<void> {
  if (placed.length === 0) return;
  const generationOf = (entry: JournalEntry) => generations.get(entry.organizationId)!;
  const places = new Map<string, Place>(
    placed.flatMap(({ entry }) => {
      const { organizationId, conversationId } = entry;
      if (conversationId === null) return [];
      const place = { organizationId, conversationId, generation: generationOf(entry) };
      return [[`${organizationId}:${conversationId}`, place] as const];
    }),
  );
  const states = await selectStates(tx, [...places.values()]);
  const changed = new Map<string, ConversationState>();
  const facts: (PlacedFact & { generation: number })[] = [];
  const people = new Map<string, PersonName>();
  for (const { position, entry } of placed) {
    const generation = generationOf(entry);
    const key = `${entry.organizationId}:${entry.conversationId}`;
    const before = states.get(key) ?? null;
    const projection = projectEntry(before, entry);
    if (projection.state !== null && projection.state !== before) {
      states.set(key, projection.state);
      changed.set(key, projection.state);
    }
    projection.facts.forEach((fact, ordinal) =>
      facts.push({ ...fact, position, ordinal, entry, generation }),
    );
    for (const { type, id, name } of namesIn(entry)) {
      const { organizationId } = entry;
      const person = { organizationId, generation, type, id, name };
      people.set(`${organizationId}:${type}:${id}`, person);
    }
  }
  await saveStates(
    tx,
    [...changed].map(([key, state]) => ({ ...places.get(key)!, state })),
  );
  await insertFacts(tx, facts);
  await savePeople(tx, [...people.values()]);
}

interface Place {
  readonly organizationId: string;
  readonly generation: number;
  readonly conversationId: string;
}

function namesIn({ actor, content }: JournalEntry): { type: string; id: string; name: string }[] {
  const assignee = content.kind === 'conversation.updated' ? content.facts.assignee : null;
  return [actor, ...(assignee === null || assignee === undefined ? [] : [assignee])].filter(
    ({ id, name }) => id !== '' && name !== '',
  );
}

function later(a: string | null, b: string): string {
  return a === null || a < b ? b : a;
}
