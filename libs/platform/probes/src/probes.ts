import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '@dak/kernel';
import type { Registry } from 'prom-client';
import { Briefly } from './briefly';

export interface ProbesOptions {
  /** Rejects while a dependency is down. */
  isReady: () => Promise<void>;
  /** False until the process has begun its work. @default always true */
  isStarted?: () => boolean;
  metrics: Registry;
}

/** Questions may come in floods, and a scrape counts queues in the database. Milliseconds. */
const METRICS_KEPT_MS = 5_000;
const READY_KEPT_MS = 1_000;
const NOT_READY_KEPT_MS = 100;

/** What whoever watches the process asks: `/healthz`, `/readyz` and `/metrics`. */
export class Probes {
  private stopping = false;
  private readonly problem: Briefly<string | null>;
  private readonly scrape: Briefly<string>;

  constructor(private readonly options: ProbesOptions) {
    this.problem = new Briefly(
      () =>
        options.isReady().then(
          () => null,
          (error: unknown) => (error instanceof DomainError ? error.message : 'not ready'),
        ),
      (problem) => (problem === null ? READY_KEPT_MS : NOT_READY_KEPT_MS),
    );
    this.scrape = new Briefly(
      () => options.metrics.metrics(),
      () => METRICS_KEPT_MS,
    );
  }

  /** Not ready from now on: no new work should come here. */
  stop(): void {
    this.stopping = true;
  }

  /** `/healthz` and `/readyz`, also for strangers. False when the request is for something else; then nothing was answered. */
  answerHealth(request: IncomingMessage, response: ServerResponse): boolean {
    switch (request.url) {
      case '/healthz':
        plain(response, 200, 'ok\n');
        return true;
      case '/readyz':
        this.answerReady(response);
        return true;
      case '/readyz?exclude=dependencies':
        this.answerStarted(response);
        return true;
      default:
        return false;
    }
  }

  /** `/metrics` besides, on a port that is not for strangers. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.url !== '/metrics') return this.answerHealth(request, response);
    this.answerMetrics(response);
    return true;
  }

  private answerStarted(response: ServerResponse): void {
    if (this.stopping) plain(response, 503, 'stopping\n');
    else if (this.options.isStarted?.() === false) plain(response, 503, 'starting\n');
    else plain(response, 200, 'ready\n');
  }

  private answerReady(response: ServerResponse): void {
    if (this.stopping || this.options.isStarted?.() === false) return this.answerStarted(response);
    void this.problem
      .get()
      .then((problem) =>
        problem === null ? plain(response, 200, 'ready\n') : plain(response, 503, `${problem}\n`),
      );
  }

  private answerMetrics(response: ServerResponse): void {
    const { contentType } = this.options.metrics;
    this.scrape.get().then(
      (text) => {
        response.writeHead(200, { 'Content-Type': contentType }).end(text);
      },
      () => plain(response, 500, 'metrics are not available\n'),
    );
  }
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}
