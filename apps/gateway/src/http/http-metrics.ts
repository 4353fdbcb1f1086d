import { Counter, Histogram, type Registry } from 'prom-client';
import type { LimitClass } from './rate-limiter';

/** Records one finished request of one route. */
export type RouteTimer = (status: number, seconds: number) => void;

/** `login`: failures of one account from one client. */
const LIMIT_CLASSES = ['read', 'write', 'auth', 'anonymous', 'login'] as const;

/** `dak_http_requests_total` and `dak_http_request_duration_seconds` by route template, never by path. */
export class HttpMetrics {
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly durations: Histogram<'method' | 'route'>;
  private readonly rateLimited: Counter<'class'>;

  constructor(readonly registry: Registry) {
    this.requests = new Counter({
      name: 'dak_http_requests_total',
      help: 'Finished HTTP requests',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
    });
    this.durations = new Histogram({
      name: 'dak_http_request_duration_seconds',
      help: 'Time from the request line to the response',
      labelNames: ['method', 'route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    });
    this.rateLimited = new Counter({
      name: 'dak_rate_limited_total',
      help: 'Requests refused with 429, by the exhausted limit',
      labelNames: ['class'],
      registers: [registry],
    });
    for (const limitClass of LIMIT_CLASSES) this.rateLimited.inc({ class: limitClass }, 0);
  }

  /** A request got 429. @param limitClass which limit was used up; never whose */
  limited(limitClass: LimitClass | 'login'): void {
    this.rateLimited.inc({ class: limitClass });
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
