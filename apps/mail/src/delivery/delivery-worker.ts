import { setTimeout as delay } from 'node:timers/promises';
import { isOutage, type Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { readProcessName } from '@dak/platform/deployment';
import { FairSlots, type Slot } from '@dak/platform/fair-slots';
import type { Database } from '@dak/platform/postgres';
import type { AddressDirectory } from '../mailboxes/addresses/address-directory';
import { findAnswered } from './answered-store';
import { createAttemptRecorder } from './attempt-recorder';
import type { AttemptResult } from './attempt-result';
import { claimDeliveries } from './claim-store';
import type { ClaimedDelivery } from './claimed-delivery';
import { openDeliveryJournal, type DeliveryJournal } from './delivery-journal';
import { createHandOver, type HandOver } from './hand-over';
import { releaseLeases, renewLeases } from './lease-store';
import { parkDeliveries, releaseParked } from './park-store';
import { createRawCache } from './raw-cache';
import { recoverJournal } from './recover-journal';
import { takeBackDeliveries } from './take-back-deliveries';
import type { Transport } from './transports/transport';

export interface DeliveryWorkerOptions {
  /**
   * Deliveries started in the last seconds; one organization may use three quarters of these slots,
   * and what takes longer goes on beside them. @default 80
   */
  readonly maxDeliveries?: number;
  /** Deliveries that take longer. @default 240 */
  readonly maxSlow?: number;
  /** @default 3000 */
  readonly slowAfterMs?: number;
  /** Shortest time between two claims: what falls due meanwhile shares the second. @default 20 */
  readonly claimGapMs?: number;
  /** @default 500 */
  readonly pollMs?: number;
  /** @default 60 */
  readonly leaseSeconds?: number;
  /** Wait after an unknown outcome before the one further try. @default 15 minutes */
  readonly uncertainWaitMs?: number;
}

export interface DeliveryWorkerDeps {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly transport: Transport;
  /** Tells mailboxes of this deployment from the rest of the world. */
  readonly directory: Pick<AddressDirectory, 'resolve'>;
  /** Folder of this process alone, for its journal of acceptances. */
  readonly journalFolder: string;
  /** Our name in `Received` fields. */
  readonly hostName: string;
  /** Mail for mailboxes of this deployment is in the spool. */
  readonly onSpooled: () => void;
  /** Results of attempts are durable. */
  readonly onRecorded?: (results: readonly AttemptResult[]) => void;
  readonly onError: (error: unknown) => void;
  readonly options?: DeliveryWorkerOptions;
}

export interface DeliveryWorker {
  /** Settles an earlier process's leftovers, then starts work. */
  start(): Promise<void>;
  /** New deliveries are due: do not wait for the next poll. */
  wake(): void;
  /** A mail that is in the blob store and will be due soon: need not be read back. */
  keepRaw(organizationId: string, sha256: string, raw: Buffer): void;
  /** Stops claiming and waits for deliveries in progress, at most `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** How soon mail of a mailbox that is active again goes on. */
const RELEASE_EVERY_MS = 1_000;

/** Sends due deliveries to their next hop; this folder's README.md describes the state after a crash. */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): DeliveryWorker {
  const { database, transport } = deps;
  const {
    maxDeliveries = 80,
    maxSlow = 240,
    slowAfterMs = 3_000,
    claimGapMs = 20,
    pollMs = 500,
    leaseSeconds = 60,
    uncertainWaitMs = 15 * 60_000,
  } = deps.options ?? {};
  const raws = createRawCache(deps.blobs);
  const inFlight = new Set<ClaimedDelivery>();
  const mostOfOne = Math.ceil(maxDeliveries * 0.75);
  const slots = new FairSlots({ most: maxDeliveries, mostOfOne, slowAfterMs, mostSlow: maxSlow });
  /** A claim costs the same for one row and for twenty: wait until a handful fits. */
  const handful = Math.ceil(maxDeliveries / 4);
  /** Only deliveries of organizations without free slots could be claimed. */
  let isCrowded = false;
  const jobs = new Set<Promise<void>>();
  /** How to ask a delivery to end, by its slot; those already asked are not included. */
  const patient = new Map<Slot, AbortController>();
  let active: { owner: string; journal: DeliveryJournal; handOver: HandOver } | null = null;
  let stopping = false;
  let wanted = false;
  let claiming: Promise<void> | null = null;
  let pollTimer: NodeJS.Timeout | undefined;
  let leaseTimer: NodeJS.Timeout | undefined;
  let releaseTimer: NodeJS.Timeout | undefined;
  /** Something failed while leases were taken or held: some may be ours that nothing here knows of. */
  let mayHaveLost = false;

  /** What fails for another reason would fail again at once: that waits until its lease has run out. */
  const failed = (error: unknown): void => {
    if (isOutage(error)) mayHaveLost = true;
    deps.onError(error);
  };

  const wake = (): void => {
    wanted = true;
    if (claiming !== null || stopping || active === null) return;
    const { owner, handOver } = active;
    claiming = claimUntilIdle(owner, handOver)
      .catch(failed)
      .finally(() => {
        claiming = null;
      });
  };

  /** When work fails for an outage, its deliveries are taken up again with the next claim; else when their leases have run out. */
  const run = (
    deliveries: readonly ClaimedDelivery[],
    work: (giveWay: AbortSignal) => Promise<void>,
  ): void => {
    const ending = new AbortController();
    const taken = deliveries.map((delivery) => {
      inFlight.add(delivery);
      const slot = slots.take(delivery.organizationId);
      patient.set(slot, ending);
      return slot;
    });
    const { organizationId } = deliveries[0]!;
    const job: Promise<void> = work(ending.signal)
      .catch(failed)
      .finally(() => {
        for (const delivery of deliveries) inFlight.delete(delivery);
        for (const slot of taken) {
          slots.release(slot);
          patient.delete(slot);
        }
        jobs.delete(job);
        if (wanted && (!isCrowded || slots.roomOf(organizationId) >= handful)) wake();
      });
    jobs.add(job);
  };

  /**
   * When the slots for slow deliveries are full as well, the slowest servers have had their time: their
   * mail is tried again later, that of the organization with most of it first.
   */
  const makeRoom = (): void => {
    if (slots.freeInMs() !== null) return;
    for (const slot of slots.longestOfMost(handful, (one) => !patient.has(one))) {
      patient.get(slot)?.abort();
      patient.delete(slot);
    }
  };

  const claimUntilIdle = async (owner: string, handOver: HandOver): Promise<void> => {
    while (wanted && !stopping) {
      isCrowded = false;
      const limit = slots.room();
      if (limit < handful) return makeRoom();
      wanted = false;
      await takeBackLost(owner);
      const rooms = new Map(
        [...slots.rooms()].map(([id, room]) => [id, room < handful ? 0 : room]),
      );
      const claimed = await claimDeliveries(database, {
        owner,
        limit,
        leaseSeconds,
        limitOfOne: mostOfOne,
        rooms,
      });
      if (claimed.length === 0) {
        isCrowded = [...rooms.values()].includes(0);
        wanted = isCrowded;
        return;
      }
      wanted = true;
      if (stopping) {
        await database.asWorker((tx) => releaseLeases(tx, claimed));
        return;
      }
      await dispatch(claimed, handOver);
      await delay(claimGapMs);
    }
  };

  const dispatch = async (all: readonly ClaimedDelivery[], handOver: HandOver): Promise<void> => {
    const [waiting, claimed] = [true, false].map((waits) =>
      all.filter(({ readiness }) => (readiness === 'held') === waits),
    ) as [ClaimedDelivery[], ClaimedDelivery[]];
    if (waiting.length > 0) await parkDeliveries(database, waiting);
    const conditional = claimed.filter(({ cancelIfReply }) => cancelIfReply);
    const [answered, verdicts] = await Promise.all([
      findAnswered(database, conditional),
      Promise.all(claimed.map(({ recipient }) => deps.directory.resolve(recipient))),
    ]);
    const outgoing: ClaimedDelivery[] = [];
    claimed.forEach((delivery, index) => {
      const verdict = verdicts[index]!;
      if (delivery.readiness === 'withdrawn') {
        run([delivery], () => handOver.withdraw(delivery, 'The mailbox has been deleted'));
      } else if (delivery.senderDomain !== 'owned') {
        run([delivery], () => handOver.refuse(delivery));
      } else if (answered.has(delivery.submissionId)) {
        run([delivery], () => handOver.withdraw(delivery, 'Canceled: an answer came first'));
      } else if (verdict.kind === 'unknown') {
        outgoing.push(delivery);
      } else {
        run([delivery], () => handOver.deliverHere(delivery, verdict));
      }
    });
    for (const batch of inBatches(outgoing, transport)) {
      run(batch, (giveWay) => handOver.sendOut(batch, giveWay));
    }
  };

  /** The answer to a claim may have been lost with its connection, and so may work that failed with it. */
  const takeBackLost = async (owner: string): Promise<void> => {
    if (!mayHaveLost) return;
    mayHaveLost = false;
    try {
      await takeBack(
        owner,
        [...inFlight].map(({ id }) => id),
      );
    } catch (error) {
      mayHaveLost = true;
      throw error;
    }
  };

  const tendLeases = async (): Promise<void> => {
    try {
      await renewLeases(database, [...inFlight], leaseSeconds);
      await takeBack(null);
    } catch (error) {
      deps.onError(error);
    }
  };

  const release = (): void => {
    releaseParked(database).then((count) => count > 0 && wake(), deps.onError);
  };

  const takeBack = (owner: string | null, inHand: readonly string[] = []) =>
    takeBackDeliveries(
      database,
      { owner, inHand, uncertainWaitSeconds: uncertainWaitMs / 1000 },
      deps.clock(),
    );

  return {
    wake,
    keepRaw: (...kept) => raws.keep(...kept),
    async start() {
      const owner = await readProcessName(deps.journalFolder);
      const journal = await openDeliveryJournal(deps.journalFolder);
      await recoverJournal(database, journal, deps.clock);
      await takeBack(owner);
      const handOver = createHandOver({
        ...deps,
        raws,
        journal,
        uncertainWaitMs,
        recorder: createAttemptRecorder(deps),
        isStopping: () => stopping,
      });
      active = { owner, journal, handOver };
      pollTimer = setInterval(wake, pollMs);
      releaseTimer = setInterval(release, RELEASE_EVERY_MS);
      leaseTimer = setInterval(() => void tendLeases(), (leaseSeconds * 1000) / 3);
      wake();
    },
    async stop(graceMs = 30_000) {
      stopping = true;
      clearInterval(pollTimer);
      clearInterval(leaseTimer);
      clearInterval(releaseTimer);
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      const finished = async () => {
        await claiming;
        await Promise.all(jobs);
      };
      await Promise.race([finished(), deadline]);
      clearTimeout(timer);
      await transport.close(Math.min(graceMs, 5_000));
      await active?.journal.close();
      active = null;
    },
  };
}

/** Recipients of one message on the same way share an SMTP transaction. */
function inBatches(
  deliveries: readonly ClaimedDelivery[],
  transport: Transport,
): ClaimedDelivery[][] {
  const groups = Map.groupBy(
    deliveries,
    ({ submissionId, recipient }) => `${submissionId} ${transport.routeOf(recipient)}`,
  );
  return [...groups.values()];
}
