import {
  RuleMatched,
  PUBLIC_TOPICS,
  eventBody,
  isOfBlindCopy,
  publicEvent,
  type EventEnvelope,
  type PublicEvent,
} from '@dak/contracts/events';
import { createGroupCommit } from '@dak/platform/group-commit';
import {
  classifyFailure,
  createReadPacing,
  fromLogRecord,
  type Log,
  type LogRecord,
  type Subscription,
} from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import { findAccess, type Place, type VisibilityClient } from '@dak/platform/visibility';
import { deliveryId, uuidOfEvent } from './delivery-id';
import type { NewDelivery } from './delivery-row';
import {
  insertDeliveries,
  insertMessages,
  selectInterested,
  type InterestedEndpoint,
} from './fan-out-store';
import { interestIn, type EventFacts } from './match-endpoints';
import type { MessageRow } from './message-row';

/** A delivery that was just committed, with everything its first attempt needs. */
export type FreshDelivery = NewDelivery & {
  body: Buffer;
  stamp: string;
  /** W3C trace context of the event. */
  traceparent: string | null;
};

export interface FanOutDeps {
  database: Database;
  log: Log;
  visibility: VisibilityClient;
  /** Deliveries were committed; the owners of their lanes may send them at once. */
  onCommitted: (deliveries: readonly FreshDelivery[]) => void;
  /** Counts of events read and of deliveries made from them. */
  onCounted: (events: number, deliveries: number) => void;
}

export const GROUP = 'webhooks';
/** Keys handled at the same time: their records share transactions. */
const CONCURRENCY = 256;
const MAX_EVENTS_OF_A_TRANSACTION = 500;

interface Candidate {
  envelope: EventEnvelope;
  uuid: string;
  event: PublicEvent;
  facts: EventFacts;
}

/**
 * Turns events of the log into deliveries: one for each endpoint that wants the event and whose owner
 * may see it now. Reading an event again adds nothing.
 */
export class FanOut {
  readonly #deps: FanOutDeps;
  readonly #commits = createGroupCommit((groups: Candidate[][]) => this.#flush(groups), {
    maxItems: MAX_EVENTS_OF_A_TRANSACTION,
    concurrency: 2,
  });
  readonly #pacing = createReadPacing({ quietMs: 200 });
  #subscription: Subscription | null = null;

  constructor(deps: FanOutDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#subscription = await this.#deps.log.subscribe(
      GROUP,
      PUBLIC_TOPICS,
      (records) => this.handle(records),
      { concurrency: CONCURRENCY, pauseMs: () => this.#pacing.pauseMs() },
    );
  }

  async stop(): Promise<void> {
    await this.#subscription?.close();
    await this.#commits.idle();
  }

  /** Consecutive records of one key. @throws InvalidError for a record that is no event */
  async handle(records: readonly LogRecord[]): Promise<void> {
    const candidates = records.flatMap((record) => candidatesOf(fromLogRecord(record)));
    if (candidates.length === 0) return;
    try {
      await this.#commits.submit(candidates);
    } catch (error) {
      if (classifyFailure(error) === 'transient') throw error;
      // One key must not park the others of the same commit.
      await this.#flush([candidates]);
    }
  }

  async #flush(groups: Candidate[][]): Promise<null[]> {
    const candidates = groups.flat();
    const { database, onCommitted, onCounted } = this.#deps;
    const organizations = new Set(candidates.map(({ envelope }) => envelope.organizationId));
    const endpoints = await selectInterested(database, [...organizations]);
    const made = (
      await Promise.all(
        [...Map.groupBy(candidates, ({ envelope }) => envelope.organizationId)].map(
          ([organizationId, events]) =>
            this.#matches(organizationId, events, endpoints.get(organizationId) ?? []),
        ),
      )
    ).flat();
    if (made.length > 0) {
      this.#pacing.relevant();
      const messages = made.map(({ message }) => message);
      const deliveries = made.flatMap(({ deliveries }) => deliveries);
      const [, inserted] = await database.batchAsWorker([
        insertMessages(messages),
        insertDeliveries(deliveries),
      ]);
      const pending = new Set(
        inserted!.flatMap(({ id, state }) => (state === 'pending' ? [id as string] : [])),
      );
      onCommitted(deliveries.filter(({ id }) => pending.has(id)));
      onCounted(candidates.length, inserted!.length);
    } else {
      onCounted(candidates.length, 0);
    }
    return groups.map(() => null);
  }

  /** The events of one organization that at least one endpoint gets. */
  async #matches(
    organizationId: string,
    candidates: readonly Candidate[],
    endpoints: readonly InterestedEndpoint[],
  ): Promise<{ message: MessageRow; deliveries: FreshDelivery[] }[]> {
    if (endpoints.length === 0) return [];
    const wanted = candidates.map((candidate) => ({
      candidate,
      interests: endpoints.flatMap((endpoint) => {
        const interest = interestIn(candidate.facts, endpoint);
        return interest === 'none' ? [] : [{ endpoint, interest }];
      }),
    }));
    const unchecked = wanted.flatMap(({ candidate, interests }) => {
      const owners = interests.filter(({ interest }) => interest === 'if_readable');
      const place = placeOf(candidate);
      return owners.length === 0 || place === null ? [] : [{ candidate, place, owners }];
    });
    const mayRead = await findAccess(
      this.#deps.visibility,
      organizationId,
      unchecked.map(({ place }) => place),
      unchecked.flatMap(({ owners }) =>
        owners.map(({ endpoint }) => ({
          userId: endpoint.ownerUserId,
          departmentIds: endpoint.ownerDepartmentIds,
        })),
      ),
      // A question about many events appears in the trace of the first.
      unchecked.find(({ candidate }) => candidate.envelope.traceparent)?.candidate.envelope
        .traceparent,
    );
    return wanted.flatMap(({ candidate, interests }) => {
      const place = placeOf(candidate);
      const receivers = interests.filter(
        ({ endpoint, interest }) =>
          interest === 'matches' ||
          (place !== null && mayRead(place, endpoint.ownerUserId, candidate.facts.needsSend)),
      );
      if (receivers.length === 0) return [];
      const message = messageOf(candidate);
      return [
        {
          message,
          deliveries: receivers.map(({ endpoint }) => deliveryOf(candidate, endpoint, message)),
        },
      ];
    });
  }
}

/** Empty for events that are never sent: unknown kinds of later versions, and imported mail. */
function candidatesOf(envelope: EventEnvelope): Candidate[] {
  const event = publicEvent(envelope);
  if (event === null || isOfImport(event)) return [];
  const facts = {
    type: envelope.type,
    mailboxId: envelope.mailboxId ?? null,
    conversationId: envelope.conversationId ?? null,
    occurredAt: envelope.occurredAt?.getTime() ?? 0,
    notifyWebhookIds:
      envelope.type === 'rule.matched' ? RuleMatched.decode(envelope.data).notifyWebhookIds : [],
    needsSend: isOfBlindCopy(envelope),
  };
  return [{ envelope, uuid: uuidOfEvent(envelope.id), event, facts }];
}

function isOfImport({ type, data }: PublicEvent): boolean {
  return (
    (type === 'mail.received' && data['imported'] === true) ||
    (type === 'conversation.updated' && data['reason'] === 'imported')
  );
}

/** Null for an event outside of conversations. */
function placeOf({ facts, envelope }: Candidate): Place | null {
  const { conversationId, mailboxId } = facts;
  if (conversationId === null) return null;
  return { conversationId, mailboxId, departmentId: envelope.departmentId ?? null };
}

function messageOf({ envelope, event, facts }: Candidate): MessageRow {
  return {
    organization_id: envelope.organizationId,
    event_id: envelope.id,
    type: envelope.type,
    mailbox_id: facts.mailboxId,
    department_id: envelope.departmentId ?? null,
    conversation_id: facts.conversationId,
    sequence: envelope.sequence,
    needs_send: facts.needsSend,
    body: eventBody(event),
    occurred_at: event.timestamp,
    traceparent: envelope.traceparent ?? null,
  };
}

function deliveryOf(
  { envelope, uuid }: Candidate,
  endpoint: InterestedEndpoint,
  { body, traceparent }: MessageRow,
): FreshDelivery {
  const isOrdered = endpoint.ordering === 'conversation';
  return {
    organization_id: envelope.organizationId,
    endpoint_id: endpoint.endpointId,
    id: deliveryId(uuid, endpoint.endpointId),
    event_id: envelope.id,
    event_type: envelope.type,
    trigger: 'automatic',
    replay_id: null,
    state: endpoint.isActive ? 'pending' : 'canceled',
    order_key: isOrdered ? envelope.partitionKey : null,
    order_seq: isOrdered ? envelope.sequence : 0,
    error_code: endpoint.isActive ? null : 'endpoint_disabled',
    body,
    stamp: endpoint.stamp,
    traceparent,
  };
}
