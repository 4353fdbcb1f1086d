import { createHash } from 'node:crypto';
import { UnavailableError } from '@dak/kernel';
import { FairSlots, type Slot } from '@dak/platform/fair-slots';
import { sessionFailed } from './smtp-client';
import type { SmtpEndpoint } from './smtp-endpoint';
import type { OnSmtpPhase, RecipientResult } from './smtp-phase';
import {
  closeSmtpSession,
  GAVE_WAY,
  openSmtpSession,
  SmtpSessionError,
  type SmtpSession,
} from './smtp-session';
import { assertSubmission, sendSmtpTransaction, type SmtpSubmission } from './smtp-transaction';

export interface SmtpPoolOptions {
  /**
   * Connections to one endpoint at the same time; more submissions wait. One tenant has four fifths of
   * them at most. Default 5.
   */
  readonly maxConnections?: number;
  /** Connections besides on which the endpoint takes its time. Default as `maxConnections`. */
  readonly maxSlow?: number;
  /** Milliseconds after which a submission counts as slow. Default 3000. */
  readonly slowAfterMs?: number;
  /** Messages before a connection is closed; many servers allow 100. Default 100. */
  readonly maxMessages?: number;
  /** Milliseconds an unused connection is kept. Default 10 000. */
  readonly idleMs?: number;
}

export interface SmtpPool {
  /**
   * As `sendSmtp`, over a kept connection where there is one. Phases then begin at `mail`.
   * @param tenant Whose mail it is; tenants that wait for the endpoint take turns.
   * @param giveWay Others wait: the attempt is deferred at once, or, when the final dot was written, soon.
   */
  send(
    endpoint: SmtpEndpoint,
    submission: SmtpSubmission,
    onPhase: OnSmtpPhase,
    tenant?: string,
    giveWay?: AbortSignal,
  ): Promise<RecipientResult[]>;
  /** Open connections, in use and kept. */
  readonly size: number;
  /**
   * Takes no more submissions, waits for the running ones up to `graceMs`, says QUIT to the kept
   * connections. Submissions that still wait for a connection are refused with UnavailableError.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Milliseconds that the reply to a final dot has when others wait: without it, it is unknown whether the
 * message was taken, and scanners take their time there.
 */
const DOT_PATIENCE_MS = 60_000;

/** The connections to one endpoint. */
interface Lane {
  readonly idle: { readonly session: SmtpSession; readonly timer: NodeJS.Timeout }[];
  /** By tenant, whose turn it is first. */
  readonly waiting: Map<string, Waiter[]>;
  readonly slots: FairSlots;
  timer: NodeJS.Timeout | null;
}

interface Waiter {
  resolve(slot: Slot): void;
  reject(error: Error): void;
}

export function createSmtpPool(options: SmtpPoolOptions = {}): SmtpPool {
  const { maxConnections = 5, maxMessages = 100, idleMs = 10_000 } = options;
  const { maxSlow = maxConnections, slowAfterMs = 3_000 } = options;
  const lanes = new Map<string, Lane>();
  const quitting = new Set<Promise<void>>();
  let closed = false;
  let onDrained: (() => void) | null = null;
  const busyCount = () => [...lanes.values()].reduce((sum, lane) => sum + lane.slots.size, 0);

  const quit = (session: SmtpSession) => {
    const done = closeSmtpSession(session).finally(() => quitting.delete(done));
    quitting.add(done);
  };

  const openLane = (key: string): Lane => {
    const slots = new FairSlots({
      most: maxConnections,
      mostOfOne: Math.ceil(maxConnections * 0.8),
      mostSlow: maxSlow,
      slowAfterMs,
    });
    const lane: Lane = { idle: [], waiting: new Map(), slots, timer: null };
    lanes.set(key, lane);
    return lane;
  };

  const claimSlot = async (lane: Lane, tenant: string, giveWay?: AbortSignal): Promise<Slot> => {
    if (closed) throw closedError();
    if (giveWay?.aborted === true) throw new SmtpSessionError('connect', GAVE_WAY);
    let endEarly = () => undefined as void;
    try {
      return await new Promise((resolve, reject) => {
        const waiter = { resolve, reject };
        const waiting = lane.waiting.get(tenant) ?? [];
        waiting.push(waiter);
        lane.waiting.set(tenant, waiting);
        endEarly = () => {
          const left = (lane.waiting.get(tenant) ?? []).filter((other) => other !== waiter);
          if (left.length > 0) lane.waiting.set(tenant, left);
          else lane.waiting.delete(tenant);
          reject(new SmtpSessionError('connect', GAVE_WAY));
        };
        giveWay?.addEventListener('abort', endEarly);
        admit(lane);
      });
    } finally {
      giveWay?.removeEventListener('abort', endEarly);
    }
  };

  /** Tenants take turns, one submission each. */
  const admit = (lane: Lane): void => {
    const { slots, waiting } = lane;
    for (let isMoving = true; isMoving;) {
      isMoving = false;
      for (const [tenant, waiters] of [...waiting]) {
        if (slots.room() === 0) break;
        if (slots.roomOf(tenant) === 0) continue;
        isMoving = true;
        waiters.shift()!.resolve(slots.take(tenant));
        waiting.delete(tenant);
        if (waiters.length > 0) waiting.set(tenant, waiters);
      }
    }
    const wait = waiting.size === 0 ? null : slots.freeInMs();
    if (wait === null || lane.timer !== null) return;
    lane.timer = setTimeout(() => {
      lane.timer = null;
      admit(lane);
    }, wait + 1).unref();
  };

  const forgetUnused = (key: string, { slots, idle, waiting }: Lane): void => {
    if (slots.size === 0 && idle.length === 0 && waiting.size === 0) lanes.delete(key);
  };

  const freeSlot = (key: string, lane: Lane, slot: Slot) => {
    lane.slots.release(slot);
    admit(lane);
    forgetUnused(key, lane);
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
      forgetUnused(key, lane);
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
    giveWay?: AbortSignal,
  ): Promise<RecipientResult[]> => {
    const kept = takeIdle(lane);
    if (kept !== null) {
      const results = await transact(kept, submission, onPhase, giveWay);
      if (giveWay?.aborted === true || !diedWhileKept(kept, results)) {
        release(key, lane, kept);
        return results;
      }
    }
    const session = await openSmtpSession(endpoint, onPhase, giveWay);
    const results = await transact(session, submission, onPhase, giveWay);
    release(key, lane, session);
    return results;
  };

  return {
    get size() {
      return [...lanes.values()].reduce((sum, lane) => sum + lane.slots.size + lane.idle.length, 0);
    },
    async send(endpoint, submission, onPhase, tenant = '', giveWay) {
      assertSubmission(submission);
      const key = endpointKey(endpoint);
      const lane = lanes.get(key) ?? openLane(key);
      let slot: Slot | null = null;
      try {
        slot = await claimSlot(lane, tenant, giveWay);
        return await attempt(key, lane, endpoint, submission, onPhase, giveWay);
      } catch (error) {
        if (error instanceof SmtpSessionError) return sessionFailed(submission, error);
        throw error;
      } finally {
        if (slot !== null) freeSlot(key, lane, slot);
      }
    },
    async close(graceMs = 10_000) {
      closed = true;
      for (const lane of lanes.values()) {
        if (lane.timer !== null) clearTimeout(lane.timer);
        for (const waiter of [...lane.waiting.values()].flat()) waiter.reject(closedError());
        lane.waiting.clear();
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

async function transact(
  session: SmtpSession,
  submission: SmtpSubmission,
  onPhase: OnSmtpPhase,
  giveWay: AbortSignal | undefined,
): Promise<RecipientResult[]> {
  if (giveWay === undefined) return sendSmtpTransaction(session, submission, onPhase);
  let dotAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  const endEarly = () => {
    const waitMs = dotAt === null ? 0 : Math.max(0, dotAt + DOT_PATIENCE_MS - performance.now());
    if (waitMs === 0) return session.connection.destroy(GAVE_WAY);
    timer = setTimeout(() => session.connection.destroy(GAVE_WAY), waitMs);
  };
  const noting: OnSmtpPhase = (phase) => {
    if (phase === 'final_dot') dotAt = performance.now();
    return onPhase(phase);
  };
  giveWay.addEventListener('abort', endEarly);
  if (giveWay.aborted) endEarly();
  try {
    return await sendSmtpTransaction(session, submission, noting);
  } finally {
    clearTimeout(timer);
    giveWay.removeEventListener('abort', endEarly);
  }
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
