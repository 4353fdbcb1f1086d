import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import pg from 'pg';
import {
  ConversationUpdated,
  EventEnvelope,
  type EventKind,
  type PublicEvent,
} from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import { PostgresLog, toLogMessage } from '@dak/platform/log';
import { createTestDatabase } from '@dak/testing/database';

/** A log of its own, to which a test publishes what services would. */
export async function openTestLog() {
  const database = await createTestDatabase({
    name: 'log',
    migrationsFolder: join(__dirname, '../../../libs/platform/log/migrations'),
  });
  const pool = new pg.Pool({ connectionString: database.url, max: 6 });
  const log = await PostgresLog.open({ pool, onError: () => undefined });
  return {
    log,
    /** In order; those of one conversation in one partition. */
    publish: (events: readonly EventEnvelope[]) => log.publish(events.map(toLogMessage)),
    close: async () => {
      await log.close();
      await pool.end();
      await database.drop();
    },
  };
}

export interface EventFacts {
  organizationId: string;
  conversationId?: string | null;
  mailboxId?: string | null;
  departmentId?: string | null;
  type?: EventKind;
  sequence?: number;
  reason?: string;
}

/** A change of a conversation, or of nothing in particular. */
export function eventOf(facts: EventFacts): EventEnvelope {
  const { organizationId, conversationId = uuidv7(), mailboxId = uuidv7() } = facts;
  return EventEnvelope.fromPartial({
    id: `evt_${uuidv7()}`,
    type: facts.type ?? 'conversation.updated',
    source: 'mail',
    organizationId,
    mailboxId: mailboxId ?? undefined,
    departmentId: facts.departmentId ?? undefined,
    conversationId: conversationId ?? undefined,
    partitionKey: `${organizationId}:${conversationId ?? ''}`,
    sequence: facts.sequence ?? 1,
    occurredAt: new Date(),
    actor: { type: 'system', id: '', name: 'Dak' },
    dataSchema: 'dak.events.v1.ConversationUpdated',
    dataVersion: 1,
    data: Buffer.from(
      ConversationUpdated.encode(
        ConversationUpdated.fromPartial({ reason: facts.reason ?? 'changed' }),
      ).finish(),
    ),
  });
}

/** One connection to the stream as a client has it. */
export class StreamClient {
  readonly messages: EventSourceMessage[] = [];
  readonly comments: string[] = [];
  /** What a browser would send as Last-Event-ID. */
  lastEventId = '';
  isEnded = false;
  status = 0;
  headers: IncomingMessage['headers'] = {};
  private response: IncomingMessage | null = null;
  private readonly outgoing: ClientRequest;
  private readonly opened = Promise.withResolvers<void>();
  private waiting: (() => void)[] = [];

  constructor(
    baseUrl: string,
    credential: string,
    options: { query?: string; lastEventId?: string } = {},
  ) {
    const parser = createParser({
      onEvent: (message) => {
        this.messages.push(message);
        this.notify();
      },
      onComment: (comment) => void this.comments.push(comment),
    });
    this.outgoing = request(`${baseUrl}/api/v1/events/stream${options.query ?? ''}`, {
      headers: {
        Authorization: `Bearer ${credential}`,
        ...(options.lastEventId === undefined ? {} : { 'Last-Event-ID': options.lastEventId }),
      },
      agent: false,
    });
    this.outgoing.on('response', (response) => {
      this.response = response;
      this.status = response.statusCode ?? 0;
      this.headers = response.headers;
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        for (const [, id] of text.matchAll(/^id: (.*)$/gm)) this.lastEventId = id!;
        parser.feed(text);
      });
      response.on('close', () => this.finish());
      response.on('error', () => this.finish());
      this.opened.resolve();
    });
    this.outgoing.on('error', () => this.finish());
    this.outgoing.end();
  }

  /** Resolves with the headers. */
  ready(): Promise<void> {
    return this.opened.promise;
  }

  /** Events with a body of ours, without notices. */
  events(): PublicEvent[] {
    return this.messages
      .filter(({ id }) => id !== undefined && id.startsWith('evt_'))
      .map(({ data }) => JSON.parse(data) as PublicEvent);
  }

  ids(): string[] {
    return this.events().map(({ id }) => id);
  }

  notices(): { event: string; data: Record<string, unknown> }[] {
    return this.messages
      .filter(({ event }) => ['reset', 'close', 'unauthorized'].includes(event ?? ''))
      .map(({ event, data }) => ({
        event: event!,
        data: JSON.parse(data) as Record<string, unknown>,
      }));
  }

  /** @throws Error after ten seconds */
  async until(what: string, check: () => boolean): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!check()) {
      if (Date.now() > deadline) {
        throw new Error(`${what}: got ${JSON.stringify(this.messages).slice(0, 2_000)}`);
      }
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        setTimeout(resolve, 50);
      });
    }
  }

  /** Stops reading, so that the socket fills up. */
  pause(): void {
    this.response?.pause();
  }

  resume(): void {
    this.response?.resume();
  }

  /** The connection breaks, without a word. */
  kill(): void {
    this.outgoing.destroy();
  }

  private finish(): void {
    this.isEnded = true;
    this.opened.resolve();
    this.notify();
  }

  private notify(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
