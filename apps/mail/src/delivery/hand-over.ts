import { DomainError, type Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { createGroupCommit } from '@dak/platform/group-commit';
import type { Database } from '@dak/platform/postgres';
import type { RecipientResult, SmtpPhase } from '@dak/platform/smtp-client';
import { describeSpan, inSpan } from '@dak/platform/telemetry';
import { domainOf } from '../domains/domain-name';
import type { RecipientVerdict } from '../mailboxes/addresses/recipient-verdict';
import { placeLarge } from '../spool/spool';
import type { AttemptRecorder } from './attempt-recorder';
import type { DeliveryRoute } from './attempt-result';
import type { ClaimedDelivery } from './claimed-delivery';
import type { DeliveryJournal, JournalEntry } from './delivery-journal';
import { judgeResult, withdrawn, type DeliveryResult } from './judge-result';
import { markFinalDot } from './lease-store';
import { localSpoolEntry } from './local-delivery';
import type { RawCache } from './raw-cache';
import type { Transport } from './transports/transport';

export interface HandOver {
  /**
   * Through the transport; all of one submission and route, so in one SMTP transaction.
   * @param giveWay see `Transport.send`
   */
  sendOut(deliveries: readonly ClaimedDelivery[], giveWay?: AbortSignal): Promise<void>;
  /** To a mailbox of this deployment. */
  deliverHere(delivery: ClaimedDelivery, verdict: RecipientVerdict): Promise<void>;
  /**
   * The sender's domain now belongs to another organization, whose name the mail must not bear; while ownership is unsettled,
   * the mail is tried again.
   */
  refuse(delivery: ClaimedDelivery): Promise<void>;
  /** The mail must not leave any more. */
  withdraw(delivery: ClaimedDelivery, reason: string): Promise<void>;
}

export interface HandOverDeps {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly raws: RawCache;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly recorder: AttemptRecorder;
  readonly journal: DeliveryJournal;
  readonly hostName: string;
  readonly uncertainWaitMs: number;
  readonly onError: (error: unknown) => void;
  /** No use in waiting for the database any longer. */
  readonly isStopping: () => boolean;
}

/** Another process has taken the delivery over; nothing was sent. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Sends claimed deliveries to their next hop and records its replies. */
export function createHandOver(deps: HandOverDeps): HandOver {
  const { clock, transport, journal, raws } = deps;

  const finalDots = createGroupCommit<readonly ClaimedDelivery[], boolean>(
    async (groups) => {
      const kept = await markFinalDot(deps.database, groups.flat());
      return groups.map((group) => group.every(({ id }) => kept.has(id)));
    },
    { maxItems: 200 },
  );

  const judge = (delivery: ClaimedDelivery, outcome: RecipientResult): DeliveryResult =>
    judgeResult(delivery, outcome, clock(), deps.uncertainWaitMs, Math.random);

  const record = async (
    deliveries: readonly ClaimedDelivery[],
    results: readonly DeliveryResult[],
    route: DeliveryRoute,
    startedAt: number,
  ): Promise<void> => {
    const finishedAt = clock();
    const attempts = deliveries.map((delivery, index) => ({
      delivery,
      result: results[index]!,
      route,
      startedAt,
      finishedAt,
      spool: null,
    }));
    for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 5_000)) {
      try {
        return await deps.recorder.record(attempts);
      } catch (error) {
        // The next hop cannot be asked again, so the database is. At the end the journal has it.
        if (deps.isStopping()) throw error;
        deps.onError(error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  };

  const attempt = async (
    deliveries: readonly ClaimedDelivery[],
    giveWay?: AbortSignal,
  ): Promise<RecipientResult[]> => {
    const first = deliveries[0]!;
    const recipients = deliveries.map(({ recipient }) => recipient);
    try {
      const raw = await raws.get(first.organizationId, first.rawSha256);
      const onPhase = async (phase: SmtpPhase) => {
        if (phase !== 'final_dot') return;
        if (!(await finalDots.submit(deliveries))) throw new LeaseLost();
      };
      const submission = { mailFrom: first.mailFrom, recipients, raw };
      return await transport.send(submission, onPhase, first.organizationId, giveWay);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      deps.onError(error);
      // A transport that throws has handed nothing over.
      const isInvalid = error instanceof DomainError && error.kind === 'invalid';
      return recipients.map((recipient) => ({
        recipient,
        outcome: isInvalid ? 'rejected' : 'deferred',
        phase: 'connect',
        reason: isInvalid ? error.message : 'The message could not be sent for an internal reason',
      }));
    }
  };

  /** An attempt is a span below the request that submitted the mail; its events and local mail are below the span. */
  const inAttempt = (
    deliveries: readonly ClaimedDelivery[],
    route: DeliveryRoute,
    work: (deliveries: readonly ClaimedDelivery[]) => Promise<void>,
  ): Promise<void> => {
    const { id, attempts, traceparent: parent } = deliveries[0]!;
    const attributes = { 'dak.queue_id': id, 'dak.attempt': attempts };
    return inSpan(`deliver ${route}`, { kind: 'client', attributes, parent }, (traceparent) =>
      work(
        traceparent === undefined
          ? deliveries
          : deliveries.map((delivery) => ({ ...delivery, traceparent })),
      ),
    );
  };

  const steps: HandOver = {
    async sendOut(deliveries, giveWay) {
      const startedAt = clock();
      let outcomes: RecipientResult[];
      try {
        outcomes = await attempt(deliveries, giveWay);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        throw error;
      }
      const entries = acceptances(deliveries, outcomes, transport);
      // Beside the commit, not before it: either of the two suffices to know of the acceptance.
      const noted = entries.length === 0 ? Promise.resolve() : journal.note(entries);
      noted.catch(deps.onError);
      const results = outcomes.map((outcome, index) => judge(deliveries[index]!, outcome));
      describeSpan({ 'dak.outcome': results[0]!.state });
      await record(deliveries, results, transport.name, startedAt);
      await noted.catch(() => undefined);
      journal.committed(entries.length);
    },

    async deliverHere(delivery, verdict) {
      const startedAt = clock();
      if (verdict.kind !== 'deliver') {
        const result = judge(delivery, localRefusal(delivery.recipient, verdict.kind));
        return record([delivery], [result], 'local', startedAt);
      }
      const raw = await raws.get(delivery.organizationId, delivery.rawSha256);
      const at = new Date(startedAt);
      const entry = localSpoolEntry(delivery, verdict.target, raw, deps.hostName, at);
      const spool = await placeLarge(deps.blobs, entry);
      const result = judge(delivery, {
        recipient: delivery.recipient,
        outcome: 'accepted',
        phase: 'accepted',
        reply: { code: 250, enhanced: '2.0.0', text: 'Delivered to a mailbox of this deployment' },
      });
      describeSpan({ 'dak.outcome': result.state });
      await deps.recorder.record([
        { delivery, result, route: 'local', startedAt, finishedAt: clock(), spool },
      ]);
    },

    refuse: (delivery) => {
      const outcome = foreignSender(delivery);
      return record([delivery], [judge(delivery, outcome)], transport.name, clock());
    },

    withdraw: (delivery, reason) =>
      record([delivery], [withdrawn(reason)], transport.name, clock()),
  };
  return {
    ...steps,
    sendOut: (deliveries, giveWay) =>
      inAttempt(deliveries, transport.name, (traced) => steps.sendOut(traced, giveWay)),
    deliverHere: (delivery, verdict) =>
      inAttempt([delivery], 'local', ([traced]) => steps.deliverHere(traced!, verdict)),
  };
}

function foreignSender({ recipient, mailFrom, senderDomain }: ClaimedDelivery): RecipientResult {
  if (senderDomain === 'unsettled') {
    const reason = `It is not settled whose domain ${domainOf(mailFrom)} is`;
    return { recipient, outcome: 'deferred', phase: 'connect', reason };
  }
  const reason = `${domainOf(mailFrom)} is no longer a domain of the organization`;
  return { recipient, outcome: 'rejected', phase: 'connect', reason };
}

function localRefusal(recipient: string, kind: RecipientVerdict['kind']): RecipientResult {
  return kind === 'disabled' || kind === 'refused'
    ? {
        recipient,
        outcome: 'rejected',
        phase: 'rcpt',
        reply: { code: 550, enhanced: '5.2.1', text: 'The mailbox is disabled' },
      }
    : {
        recipient,
        outcome: 'deferred',
        phase: 'rcpt',
        reply: { code: 450, enhanced: '4.2.1', text: 'The mailbox takes no mail at the moment' },
      };
}

/** The journal's entry; a capture has no outside effect that could happen twice. */
function acceptances(
  deliveries: readonly ClaimedDelivery[],
  outcomes: readonly RecipientResult[],
  { name }: Transport,
): JournalEntry[] {
  if (name === 'capture') return [];
  return outcomes.flatMap(({ outcome, reply }, index) => {
    if (outcome !== 'accepted') return [];
    const { organizationId, id, epoch } = deliveries[index]!;
    return [
      {
        organizationId,
        deliveryId: id,
        epoch,
        transport: name,
        smtpCode: reply?.code ?? null,
        enhanced: reply?.enhanced ?? null,
        text: reply?.text ?? '',
      },
    ];
  });
}
