import { createHash } from 'node:crypto';
import { ConflictError, RefusedError, uuidv7 } from '@dak/kernel';
import type { SubmissionReceipt } from '@dak/contracts/api';
import type { Document } from '@dak/contracts/mail';
import type { BlobStore } from '@dak/platform/blobs';
import { createGroupCommit, type GroupCommit } from '@dak/platform/group-commit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotentGroup } from '@dak/platform/idempotency';
import type { Database, Transaction } from '@dak/platform/postgres';
import { allocateConversationNumbers } from '../../conversations/conversation-store';
import { PRIORITIES } from '../../conversations/messages/delivery-state';
import { placeMessages, recordPlaced } from '../../conversations/messages/record-messages';
import { createStorageQuota } from '../../mailboxes/organizations/storage-quota';
import {
  envelopeOf,
  plainRecipients,
  renderHold,
  toNewMessage,
  toTime,
  type PreparedSubmission,
} from './prepare-submission';
import type { TakeSend } from './send-quota';
import {
  annotateConversations,
  countRecentAutomatic,
  insertSubmissions,
  lockLastMessages,
  type DraftContent,
  type NewDelivery,
  type SubmissionRow,
} from './submission-store';

/** Automatic mail in one conversation per hour; two responders facing each other stop there. */
export const MAX_AUTOMATIC_PER_HOUR = 10;

export interface AcceptRequest {
  readonly prepared: PreparedSubmission;
  readonly context: CallContext;
  /** The conversation's newest message when the caller wrote the answer. */
  readonly expectedLastMessageId: string | null;
  readonly draftContent: DraftContent;
  /** Runs in the transaction after everything else, e.g. to delete the draft that was sent. */
  readonly andThen?: (tx: Transaction) => Promise<void>;
}

export interface Acceptor {
  /** Resolves with the receipt once the submission is durable. @throws as `TakeSend`, and RefusedError `storage_full` */
  accept(request: AcceptRequest): Promise<Document>;
}

export type AcceptOutcome = { readonly document: Document } | { readonly error: unknown };
type Outcome = AcceptOutcome;

interface Entry extends AcceptRequest {
  readonly conversationId: string;
  readonly attachmentIds: readonly string[];
}

/** Submissions of one transaction. */
const GROUP_SIZE = 64;
/** Clients that were answered together come back within this time. */
const GATHER_MS = 6;
const GROUP_BYTES = 32 * 1024 * 1024;

/**
 * Makes submissions durable: message, deliveries, conversation, events and idempotent answer in one
 * transaction, which is committed once the raw message is in the blob store. Submissions of an organization that arrive while
 * one transaction runs share the next one; each still succeeds or fails on its own.
 */
export function createAcceptor(deps: {
  database: Database;
  blobs: BlobStore;
  takeSend: TakeSend;
  /** The raw message of a submission whose deliveries are due at once; called before `onAccepted`. */
  keepRaw: (organizationId: string, sha256: string, raw: Buffer) => void;
  /** New deliveries are durable and due. */
  onAccepted: () => void;
}): Acceptor {
  const groups = new Map<string, GroupCommit<Entry, Outcome>>();
  const quota = createStorageQuota(deps.database);

  const flush = async (organizationId: string, entries: Entry[]): Promise<Outcome[]> => {
    const raws = entries.map(({ prepared }) => prepared.raw);
    const durable = deps.blobs.putMany(organizationId, raws);
    // Awaited below, in the transaction; a failure may come earlier.
    durable.catch(() => undefined);
    const opening = entries.filter(({ prepared }) => prepared.facts.conversationId === null);
    // Its connection is asked for before that of the transaction, which therefore never waits in vain.
    const numbered = numbersOf(organizationId, opening);
    numbered.catch(() => undefined);
    const shaOf = new Map(entries.map((entry, index) => [entry, sha256Of(raws[index]!)]));
    const store = (some: Entry[]) =>
      deps.database.inTenant(organizationId, async (tx) => {
        const stored = await storeEntries(tx, organizationId, some, numbered, shaOf);
        await durable;
        deps.blobs.requirePresent(organizationId, contentOf(some, shaOf));
        return stored;
      });
    let outcomes: Outcome[];
    try {
      outcomes = await store(entries);
    } catch (error) {
      // One entry may have failed the transaction of all: each gets its own.
      if (entries.length === 1) return [{ error }];
      outcomes = [];
      for (const entry of entries) {
        outcomes.push(...(await store([entry]).catch((own: unknown) => [{ error: own }])));
      }
    }
    entries.forEach((entry, index) => {
      const { raw, sendTime } = entry.prepared;
      const isDue = sendTime.hold === null && 'document' in outcomes[index]!;
      if (isDue) deps.keepRaw(organizationId, shaOf.get(entry)!, raw);
    });
    deps.onAccepted();
    return outcomes;
  };

  const numbersOf = async (
    organizationId: string,
    opening: readonly Entry[],
  ): Promise<ReadonlyMap<Entry, number>> => {
    if (opening.length === 0) return new Map();
    const { database } = deps;
    const numbers = await allocateConversationNumbers(database, organizationId, opening.length);
    return new Map(opening.map((entry, index) => [entry, numbers[index]!]));
  };

  const groupOf = (organizationId: string): GroupCommit<Entry, Outcome> => {
    let group = groups.get(organizationId);
    if (group === undefined) {
      group = createGroupCommit((entries) => flush(organizationId, entries), {
        maxItems: GROUP_SIZE,
        maxBytes: GROUP_BYTES,
        size: ({ prepared }) => prepared.raw.length,
        gatherMs: GATHER_MS,
      });
      groups.set(organizationId, group);
    }
    return group;
  };

  return {
    async accept(request) {
      const { facts } = request.prepared;
      const { organizationId } = request.context.principal;
      await quota.requireRoom(organizationId, request.prepared.raw.length);
      await deps.takeSend(facts.sender.mailbox.id);
      const group = groupOf(organizationId);
      const outcome = await group.submit({
        ...request,
        conversationId: facts.conversationId ?? uuidv7(),
        attachmentIds: facts.files.map(() => uuidv7()),
      });
      if (group.waiting === 0) forgetWhenIdle(groups, organizationId, group);
      if ('error' in outcome) throw outcome.error;
      return outcome.document;
    },
  };
}

/**
 * Stores submissions into existing conversations with the other effects of a caller's transaction, all
 * of it or nothing. Their bytes are durable when it resolves; the caller wakes the deliveries.
 * @returns an outcome per request, in order; a DomainError refuses its request alone
 */
export async function acceptWithin(
  tx: Transaction,
  blobs: BlobStore,
  organizationId: string,
  requests: readonly (AcceptRequest & { readonly conversationId: string })[],
): Promise<AcceptOutcome[]> {
  if (requests.length === 0) return [];
  const raws = requests.map(({ prepared }) => prepared.raw);
  await blobs.putMany(organizationId, raws);
  const entries = requests.map((request) => ({
    ...request,
    attachmentIds: request.prepared.facts.files.map(() => uuidv7()),
  }));
  const shaOf = new Map(entries.map((entry, index) => [entry, sha256Of(raws[index]!)]));
  const stored = await storeEntries(tx, organizationId, entries, Promise.resolve(new Map()), shaOf);
  blobs.requirePresent(organizationId, contentOf(entries, shaOf));
  return stored;
}

/** Records that the entries refer to. */
function contentOf(entries: readonly Entry[], shaOf: ReadonlyMap<Entry, string>): string[] {
  return entries.flatMap((entry) => [
    shaOf.get(entry)!,
    ...entry.prepared.facts.files.map(({ reference }) => reference.sha256),
  ]);
}

function sha256Of(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function forgetWhenIdle(
  groups: Map<string, GroupCommit<Entry, Outcome>>,
  organizationId: string,
  group: GroupCommit<Entry, Outcome>,
): void {
  void group.idle().then(() => {
    if (groups.get(organizationId) === group && group.waiting === 0) groups.delete(organizationId);
  });
}

async function storeEntries(
  tx: Transaction,
  organizationId: string,
  entries: readonly Entry[],
  numbered: Promise<ReadonlyMap<Entry, number>>,
  shaOf: ReadonlyMap<Entry, string>,
): Promise<Outcome[]> {
  const expecting = entries.flatMap((entry) =>
    entry.expectedLastMessageId === null ? [] : [entry.conversationId],
  );
  const last =
    expecting.length === 0 ? null : await lockLastMessages(tx, organizationId, expecting);
  const admitted: Entry[] = [];
  return idempotentGroup(
    tx,
    entries.map(({ context }) => context),
    async (index) => {
      const entry = entries[index]!;
      await admit(tx, organizationId, entry, last);
      admitted.push(entry);
      return receiptDocument(entry);
    },
    async () => {
      if (admitted.length === 0) return;
      await storeAdmitted(tx, organizationId, admitted, await numbered, shaOf);
    },
  );
}

async function admit(
  tx: Transaction,
  organizationId: string,
  entry: Entry,
  last: ReadonlyMap<string, string | null> | null,
): Promise<void> {
  const expected = entry.expectedLastMessageId;
  if (expected !== null && last?.get(entry.conversationId) !== expected) {
    throw new ConflictError(
      'A newer message than expected_last_message_id has come into the conversation. Read it, then answer again.',
      'stale_reply',
    );
  }
  const { facts } = entry.prepared;
  if (!facts.author.isAutomatic || facts.conversationId === null) return;
  const recent = await countRecentAutomatic(tx, organizationId, facts.conversationId);
  if (recent >= MAX_AUTOMATIC_PER_HOUR) {
    throw new RefusedError(
      `This conversation has had ${recent} automatic messages within an hour, which looks like a loop. A person has to answer.`,
      'loop_suspected',
    );
  }
}

async function storeAdmitted(
  tx: Transaction,
  organizationId: string,
  entries: readonly Entry[],
  numberOf: ReadonlyMap<Entry, number>,
  shaOf: ReadonlyMap<Entry, string>,
): Promise<void> {
  const now = Math.max(...entries.map(({ prepared }) => prepared.facts.now));
  const messages = entries.map((entry) =>
    toNewMessage(entry.prepared, {
      rawSha256: shaOf.get(entry)!,
      attachmentIds: entry.attachmentIds,
      traceparent: entry.context.traceparent,
      conversation:
        entry.prepared.facts.conversationId === null
          ? {
              kind: 'new',
              id: entry.conversationId,
              number: numberOf.get(entry)!,
              labels: entry.prepared.facts.content.labels,
            }
          : { kind: 'existing', id: entry.conversationId },
    }),
  );
  const placed = await placeMessages(tx, organizationId, messages);
  const conversationIds = placed.messages.map(({ conversation }) => conversation.id);
  const rows = entries.map((entry, index) =>
    submissionRow(entry, conversationIds[index]!, shaOf.get(entry)!),
  );
  await Promise.all([
    recordPlaced(tx, organizationId, placed, now),
    insertSubmissions(
      tx,
      organizationId,
      rows,
      entries.flatMap(deliveriesOf),
      new Date(now).toISOString(),
    ),
  ]);
  await annotateConversations(
    tx,
    organizationId,
    entries.flatMap(({ prepared }, index) => {
      const scheduled = prepared.sendTime.hold?.reason === 'scheduled' ? 1 : 0;
      const { metadata } = prepared.facts.content;
      if (scheduled === 0 && Object.keys(metadata).length === 0) return [];
      return [{ id: conversationIds[index]!, scheduled, metadata }];
    }),
  );
  for (const entry of entries) await entry.andThen?.(tx);
}

function submissionRow(entry: Entry, conversationId: string, rawSha256: string): SubmissionRow {
  const { facts, sendTime, messageId, raw, subject } = entry.prepared;
  const at = new Date(facts.now).toISOString();
  return {
    id: facts.id,
    conversation_id: conversationId,
    mailbox_id: facts.sender.mailbox.id,
    kind: facts.kind,
    subject,
    status: initialState(entry.prepared),
    hold_reason: sendTime.hold?.reason ?? null,
    hold_until: toTime(sendTime.hold?.until ?? null),
    send_at: toTime(sendTime.sendAt),
    undo_until: toTime(sendTime.undoUntil),
    cancel_if_reply: facts.content.cancelIfReply,
    is_automatic: facts.author.isAutomatic,
    at_most_once: false,
    mail_from: facts.sender.mailbox.address,
    message_id_header: messageId,
    raw_sha256: rawSha256,
    size_bytes: raw.length,
    author_type: facts.author.actor.type,
    author_id: facts.author.actor.id,
    author_name: facts.author.actor.name,
    author_run_id: facts.author.actor.runId,
    content: entry.draftContent,
    template_id: facts.template?.id ?? null,
    template_version: facts.template?.version ?? null,
    traceparent: entry.context.traceparent,
    created_at: at,
    updated_at: at,
    finished_at: null,
  };
}

function deliveriesOf({ prepared }: Entry): NewDelivery[] {
  const { facts, sendTime } = prepared;
  const dueAt = new Date(sendTime.hold?.until ?? facts.now).toISOString();
  const priority = facts.author.isAutomatic
    ? PRIORITIES.automatic
    : facts.author.actor.type === 'user'
      ? PRIORITIES.person
      : PRIORITIES.program;
  return envelopeOf(prepared.recipients).map(({ email, role }, position) => ({
    id: uuidv7(),
    submission_id: facts.id,
    position,
    role,
    recipient: email,
    state: initialState(prepared),
    priority,
    next_attempt_at: dueAt,
  }));
}

function initialState({ sendTime }: PreparedSubmission): 'queued' | 'held' | 'scheduled' {
  if (sendTime.hold === null) return 'queued';
  return sendTime.hold.reason === 'undo' ? 'held' : 'scheduled';
}

function receiptDocument(entry: Entry): Document {
  const { prepared } = entry;
  const receipt: SubmissionReceipt = {
    id: prepared.facts.id,
    conversation_id: entry.conversationId,
    mailbox_id: prepared.facts.sender.mailbox.id,
    status: 'queued',
    hold: renderHold(prepared.sendTime),
    approval_id: null,
    send_at: toTime(prepared.sendTime.sendAt),
    undo_until: toTime(prepared.sendTime.undoUntil),
    recipients: plainRecipients(prepared.recipients),
    suppressed: [],
    warnings: [...prepared.warnings],
    message_id_header: prepared.messageId,
  };
  return {
    id: receipt.id,
    version: 0,
    json: Buffer.from(JSON.stringify(receipt)),
    replayed: false,
  };
}
