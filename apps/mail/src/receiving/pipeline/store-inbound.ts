import { UnavailableError } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { Database, Transaction } from '@dak/platform/postgres';
import type { NewMessage } from '../../conversations/messages/new-message';
import {
  rememberThreads,
  threadMessages,
  type Placement,
} from '../../conversations/threading/thread-messages';
import {
  lockMailboxesForThreading,
  type ThreadMemory,
} from '../../conversations/threading/thread-store';
import type { SpoolEntry } from '../../spool/spool-entry';
import { takeSpoolEntries } from '../../spool/spool-store';
import { countImported, type ImportCount } from '../import/import-store';
import type { MessageReading } from '../reading/message-reading';
import { inboundMessage, indexedSubject } from './inbound-message';
import {
  selectKnownMessages,
  selectMailboxAddresses,
  type KnownMessage,
} from './known-message-store';
import type { MailIn, MailInOutcome } from './mail-in';
import { bouncesOf, complaintOf } from './match-reports';
import type { NumberReserve } from './number-reserve';
import { recordInbound } from './record-inbound';
import { selectReportedMails } from './reported-mail-store';
import { threadMessage } from './thread-message';

/** A spool entry that has been read, its blobs stored. */
export interface ReadEntry {
  readonly entry: SpoolEntry;
  /** Id of the message it becomes. */
  readonly messageId: string;
  readonly reading: MessageReading;
  readonly rawSha256: string;
  /** Lower-case hexadecimal; see `contentHash`. */
  readonly contentHash: string;
  readonly dedupeKey: Buffer | null;
  readonly notice: string | null;
}

/** Beyond one number per message, for conversations that come apart. */
const SPARE_NUMBERS = 8;

/**
 * Stores the messages of one organization and removes their spool rows in one transaction: whatever
 * happens, a row is either still there or has become exactly one message of its mailbox.
 * @returns what became of each, without those that another worker had taken over
 */
export async function storeInbound(
  database: Database,
  numbers: NumberReserve,
  organizationId: string,
  items: readonly ReadEntry[],
  blobs: Pick<BlobStore, 'requirePresent'>,
): Promise<MailIn[]> {
  const reserved = await numbers.take(organizationId, items.length + SPARE_NUMBERS);
  let used = 0;
  try {
    return await database.inTenant(organizationId, async (tx) => {
      used = 0;
      const takeNumber = () => {
        const number = reserved[used];
        if (number === undefined) throw new UnavailableError('Out of conversation numbers.');
        used += 1;
        return number;
      };
      const results = await store(tx, organizationId, items, takeNumber);
      blobs.requirePresent(
        organizationId,
        items.flatMap(({ rawSha256, reading }) => [
          rawSha256,
          ...reading.attachments.map(({ sha256 }) => sha256),
        ]),
      );
      return results;
    });
  } catch (error) {
    used = 0;
    throw error;
  } finally {
    numbers.giveBack(organizationId, reserved.slice(used));
  }
}

async function store(
  tx: Transaction,
  organizationId: string,
  claimed: readonly ReadEntry[],
  takeNumber: () => number,
): Promise<MailIn[]> {
  const spoolIds = claimed.map(({ entry }) => entry.id);
  const taken = await takeSpoolEntries(tx, organizationId, spoolIds);
  const items = claimed.filter(({ entry }) => taken.has(entry.id));
  if (items.length === 0) return [];
  const mailboxIds = [...new Set(items.map(({ entry }) => entry.mailboxId))];
  await lockMailboxesForThreading(tx, organizationId, mailboxIds);
  const addresses = await selectMailboxAddresses(tx, organizationId, mailboxIds);
  const outcomes = await judge(tx, organizationId, items, addresses);
  const fresh = items.filter((item) => isStored(outcomes.get(item)!));
  const reported = await selectReportedMails(
    tx,
    organizationId,
    fresh.map(({ reading }) => reading),
  );

  const messages: NewMessage[] = [];
  const memories: ThreadMemory[] = [];
  for (const [mailboxId, members] of Map.groupBy(fresh, ({ entry }) => entry.mailboxId)) {
    const mailboxAddress = addresses.get(mailboxId)!;
    const incoming = members.map((item) => ({ item, thread: toThread(item, mailboxAddress) }));
    const threading = await threadMessages(
      { tx, organizationId, mailboxId, mailboxAddress, takeNumber },
      incoming.map(({ item, thread }) => ({
        thread,
        baseSubject: indexedSubject(item.reading.thread.baseSubject),
        imported: item.entry.source === 'import',
      })),
    );
    const labels = labelsByConversation(members, threading.placements);
    for (const { item, thread } of incoming) {
      const placement = threading.placements.get(thread.id)!;
      messages.push({
        ...inboundMessage({ ...item, thread }),
        bounces: bouncesOf(item.reading, reported),
        complaint: complaintOf(item.reading, reported),
        conversation: toConversation(placement, members, labels, threading.placements),
      });
    }
    memories.push(threading.memory);
  }
  await recordInbound(tx, organizationId, messages);
  await rememberThreads(tx, organizationId, memories);
  await countImported(tx, organizationId, importCounts(items, new Set(fresh)));
  return items.map((item) => {
    const outcome = outcomes.get(item)!;
    return { entry: item.entry, outcome, messageId: isStored(outcome) ? item.messageId : null };
  });
}

function isStored(outcome: MailInOutcome): boolean {
  return outcome === 'stored' || outcome === 'opaque';
}

function toThread(item: ReadEntry, mailboxAddress: string) {
  return threadMessage(item.reading, {
    id: item.messageId,
    mailboxAddress,
    contentHash: item.contentHash,
    receivedAt: item.entry.receivedAt.getTime(),
  });
}

/**
 * Skips mail that the mailbox already has, duplicates within the batch, Dak's own mail coming back,
 * and mail for a mailbox that is gone for good.
 */
async function judge(
  tx: Transaction,
  organizationId: string,
  items: readonly ReadEntry[],
  addresses: ReadonlyMap<string, string>,
): Promise<Map<ReadEntry, MailInOutcome>> {
  const known = await selectKnownMessages(
    tx,
    organizationId,
    [...addresses.keys()],
    items.flatMap(({ dedupeKey }) => dedupeKey?.toString('hex') ?? []),
    items.flatMap(({ reading }) => reading.messageId ?? []),
  );
  const seen = new Set(known.map((row) => `${row.mailbox_id}:${row.dedupe_key}`));
  const outcomeOf = (item: ReadEntry): MailInOutcome => {
    const { mailboxId } = item.entry;
    const address = addresses.get(mailboxId);
    if (address === undefined) return 'mailbox_gone';
    if (isEcho(item, address, known)) return 'echo';
    const outcome = item.notice === null ? 'stored' : 'opaque';
    if (item.dedupeKey === null) return outcome;
    const key = `${mailboxId}:${item.dedupeKey.toString('hex')}`;
    if (seen.has(key)) return 'duplicate';
    seen.add(key);
    return outcome;
  };
  return new Map(items.map((item) => [item, outcomeOf(item)]));
}

/** Mail of the mailbox itself under a Message-ID it has sent: a list or a copy to ourselves, which must not answer itself. */
function isEcho(item: ReadEntry, address: string, known: readonly KnownMessage[]): boolean {
  const { messageId, from } = item.reading;
  const author = from[0]?.address.toLowerCase();
  if (messageId === null || author === undefined) return false;
  return known.some(
    (row) =>
      row.direction === 'outbound' &&
      row.mailbox_id === item.entry.mailboxId &&
      row.message_id_header === messageId &&
      (author === address || author === row.author?.toLowerCase()),
  );
}

function labelsByConversation(
  members: readonly ReadEntry[],
  placements: ReadonlyMap<string, Placement>,
): Map<string, string[]> {
  const groups = Map.groupBy(members, (item) => placements.get(item.messageId)!.id);
  return new Map(
    [...groups].map(([id, items]) => [
      id,
      [...new Set(items.flatMap(({ entry }) => entry.labels))],
    ]),
  );
}

function toConversation(
  placement: Placement,
  members: readonly ReadEntry[],
  labels: ReadonlyMap<string, string[]>,
  placements: ReadonlyMap<string, Placement>,
): NewMessage['conversation'] {
  if (placement.kind === 'existing') return placement;
  const group = members.filter((item) => placements.get(item.messageId)!.id === placement.id);
  // An archive that has been read is no work to be done.
  const isArchive = group.every(({ entry }) => entry.source === 'import' && !entry.unread);
  return {
    ...placement,
    labels: labels.get(placement.id) ?? [],
    ...(isArchive ? { status: 'resolved' as const } : {}),
  };
}

function importCounts(
  items: readonly ReadEntry[],
  stored: ReadonlySet<ReadEntry>,
): Map<string, ImportCount> {
  const counts = new Map<string, ImportCount>();
  for (const item of items) {
    const { importId } = item.entry;
    if (importId === null) continue;
    const count = counts.get(importId) ?? { stored: 0, duplicates: 0 };
    if (stored.has(item)) count.stored += 1;
    else count.duplicates += 1;
    counts.set(importId, count);
  }
  return counts;
}
