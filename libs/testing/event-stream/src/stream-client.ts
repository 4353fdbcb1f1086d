import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { PublicEvent } from '@dak/contracts/events';

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

  /** Events with a body, without notices. */
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
