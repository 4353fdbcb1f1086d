import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '@dak/kernel';
import type { Registry } from 'prom-client';

export interface ProbesOptions {
  /** Rejects while a dependency is down. */
  isReady: () => Promise<void>;
  metrics: Registry;
}

/** What whoever watches the process asks: `/healthz`, `/readyz` and `/metrics`. */
export class Probes {
  private stopping = false;

  constructor(private readonly options: ProbesOptions) {}

  /** Not ready from now on: no new work should come here. */
  stop(): void {
    this.stopping = true;
  }

  /** False when the request is for something else; then nothing was answered. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    switch (request.url) {
      case '/healthz':
        plain(response, 200, 'ok\n');
        return true;
      case '/readyz':
        this.answerReady(response);
        return true;
      case '/metrics':
        this.answerMetrics(response);
        return true;
      default:
        return false;
    }
  }

  private answerReady(response: ServerResponse): void {
    if (this.stopping) return plain(response, 503, 'stopping\n');
    this.options.isReady().then(
      () => plain(response, 200, 'ready\n'),
      (error: unknown) =>
        plain(response, 503, `${error instanceof DomainError ? error.message : 'not ready'}\n`),
    );
  }

  private answerMetrics(response: ServerResponse): void {
    const { metrics } = this.options;
    metrics.metrics().then(
      (text) => {
        response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
      },
      () => plain(response, 500, 'metrics are not available\n'),
    );
  }
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}
