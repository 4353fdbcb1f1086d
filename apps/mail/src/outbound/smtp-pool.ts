import { createHash } from 'node:crypto';
import { UnavailableError } from '@dak/kernel';
import { sessionFailed } from './smtp-client';
import type { SmtpEndpoint } from './smtp-endpoint';
import type { OnSmtpPhase, RecipientResult } from './smtp-phase';
import {
  closeSmtpSession,
  openSmtpSession,
  SmtpSessionError,
  type SmtpSession,
} from './smtp-session';
import { assertSubmission, sendSmtpTransaction, type SmtpSubmission } from './smtp-transaction';

export interface SmtpPoolOptions {
  /** Connections to one endpoint at the same time; more submissions wait. Default 5. */
  readonly maxConnections?: number;
  /** Messages before a connection is closed; many servers allow 100. Default 100. */
  readonly maxMessages?: number;
  /** Milliseconds an unused connection is kept. Default 10 000. */
  readonly idleMs?: number;
}

export interface SmtpPool {
  /** As `sendSmtp`, over a kept connection where there is one. Phases then begin at `mail`. */
  send(
    endpoint: SmtpEndpoint,
    submission: SmtpSubmission,
    onPhase: OnSmtpPhase,
  ): Promise<RecipientResult[]>;
  /** Open connections, in use and kept. */
  readonly size: number;
  /**
   * Takes no more submissions, waits for the running ones up to `graceMs`, says QUIT to the kept
   * connections. Submissions that still wait for a connection are refused with UnavailableError.
   */
  close(graceMs?: number): Promise<void>;
}

/** The connections to one endpoint. */
interface Lane {
  readonly idle: { readonly session: SmtpSession; readonly timer: NodeJS.Timeout }[];
  readonly waiting: { resolve(): void; reject(error: Error): void }[];
  busy: number;
}

export function createSmtpPool(options: SmtpPoolOptions = {}): SmtpPool {
  const { maxConnections = 5, maxMessages = 100, idleMs = 10_000 } = options;
  const lanes = new Map<string, Lane>();
  const quitting = new Set<Promise<void>>();
  let closed = false;
  let onDrained: (() => void) | null = null;
  const busyCount = () => [...lanes.values()].reduce((sum, lane) => sum + lane.busy, 0);

  const quit = (session: SmtpSession) => {
    const done = closeSmtpSession(session).finally(() => quitting.delete(done));
    quitting.add(done);
  };

  const claimSlot = async (lane: Lane): Promise<void> => {
    if (closed) throw closedError();
    if (lane.busy < maxConnections) {
      lane.busy += 1;
      return;
    }
    // The slot is handed over by `freeSlot`, which leaves `busy` as it is.
    await new Promise<void>((resolve, reject) => lane.waiting.push({ resolve, reject }));
  };

  const freeSlot = (key: string, lane: Lane) => {
    const next = lane.waiting.shift();
    if (next !== undefined) {
      next.resolve();
      return;
    }
    lane.busy -= 1;
    if (lane.busy === 0 && lane.idle.length === 0) lanes.delete(key);
    if (onDrained !== null && busyCount() === 0) onDrained();
  };

  const takeIdle = (lane: Lane): SmtpSession | null => {
    for (;;) {
      const kept = lane.idle.pop();
      if (kept === undefined) return null;
      clearTimeout(kept.timer);
      const { connection } = kept.session;
      // A 421 that came while idle is an unread reply.
      if (connection.failure === null && !connection.hasUnreadReply) return kept.session;
      connection.destroy();
    }
  };

  const release = (key: string, lane: Lane, session: SmtpSession) => {
    if (session.connection.failure !== null) return;
    if (closed || session.transactions >= maxMessages) {
      quit(session);
      return;
    }
    const timer = setTimeout(() => {
      lane.idle.splice(
        lane.idle.findIndex((kept) => kept.session === session),
        1,
      );
      if (lane.busy === 0 && lane.idle.length === 0) lanes.delete(key);
      quit(session);
    }, idleMs);
    timer.unref();
    lane.idle.push({ session, timer });
  };

  const attempt = async (
    key: string,
    lane: Lane,
    endpoint: SmtpEndpoint,
    submission: SmtpSubmission,
    onPhase: OnSmtpPhase,
  ): Promise<RecipientResult[]> => {
    const kept = takeIdle(lane);
    if (kept !== null) {
      const results = await sendSmtpTransaction(kept, submission, onPhase);
      if (!diedWhileKept(kept, results)) {
        release(key, lane, kept);
        return results;
      }
    }
    const session = await openSmtpSession(endpoint, onPhase);
    const results = await sendSmtpTransaction(session, submission, onPhase);
    release(key, lane, session);
    return results;
  };

  return {
    get size() {
      return [...lanes.values()].reduce((sum, lane) => sum + lane.busy + lane.idle.length, 0);
    },
    async send(endpoint, submission, onPhase) {
      assertSubmission(submission);
      const key = endpointKey(endpoint);
      const lane = lanes.get(key) ?? { idle: [], waiting: [], busy: 0 };
      lanes.set(key, lane);
      await claimSlot(lane);
      try {
        return await attempt(key, lane, endpoint, submission, onPhase);
      } catch (error) {
        if (error instanceof SmtpSessionError) return sessionFailed(submission, error);
        throw error;
      } finally {
        freeSlot(key, lane);
      }
    },
    async close(graceMs = 10_000) {
      closed = true;
      for (const lane of lanes.values()) {
        for (const waiter of lane.waiting.splice(0)) waiter.reject(closedError());
        for (const { session, timer } of lane.idle.splice(0)) {
          clearTimeout(timer);
          quit(session);
        }
      }
      if (busyCount() > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, graceMs);
          onDrained = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      await Promise.all(quitting);
    },
  };
}

/**
 * A kept connection that the server has closed meanwhile fails on its first command. Nothing was
 * sent, so the message goes over a new connection at once instead of waiting for its next attempt.
 */
function diedWhileKept(session: SmtpSession, results: readonly RecipientResult[]): boolean {
  return (
    session.connection.failure !== null &&
    results.every(
      ({ outcome, phase, reply }) =>
        outcome === 'deferred' &&
        (phase === 'mail' || phase === 'rcpt') &&
        (reply === undefined || reply.code === 421),
    )
  );
}

/** Connections are shared only where all that was negotiated would be the same. */
function endpointKey(endpoint: SmtpEndpoint): string {
  return createHash('sha256').update(JSON.stringify(endpoint)).digest('base64');
}

function closedError(): UnavailableError {
  return new UnavailableError('The SMTP pool is closing. Send again after the restart.');
}
