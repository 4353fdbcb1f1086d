import { Counter, Histogram, type Registry } from 'prom-client';

/** Records one finished request of one route. */
export type RouteTimer = (status: number, seconds: number) => void;

/** `dak_http_requests_total` and `dak_http_request_duration_seconds` by route template, never by path. */
export class HttpMetrics {
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly durations: Histogram<'method' | 'route'>;

  constructor(readonly registry: Registry) {
    this.requests = new Counter({
      name: 'dak_http_requests_total',
      help: 'Finished HTTP requests',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
    });
    this.durations = new Histogram({
      name: 'dak_http_request_duration_seconds',
      help: 'Time from the request line to the reply',
      labelNames: ['method', 'route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    });
  }

  /** Labels are looked up once per route and status instead of once per request. */
  timer(route: string, method: string): RouteTimer {
    const duration = this.durations.labels({ method, route });
    const byStatus = new Map<number, Counter.Internal>();
    return (status, seconds) => {
      let counter = byStatus.get(status);
      if (counter === undefined) {
        counter = this.requests.labels({ method, route, status: String(status) });
        byStatus.set(status, counter);
      }
      counter.inc();
      duration.observe(seconds);
    };
  }
}
