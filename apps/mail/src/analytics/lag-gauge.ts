import { Gauge, type Registry } from 'prom-client';
import type { Log } from '@dak/platform/log';
import { ANALYTICS_GROUP } from './consume-events';

/** How far the numbers are behind; asked of the log with every scrape and absent while it is away. */
export function registerLagGauge(registry: Registry, log: Log): void {
  new Gauge({
    name: 'dak_mail_analytics_lag_seconds',
    help: 'Age of the oldest event not yet counted in analytics',
    registers: [registry],
    async collect() {
      this.remove();
      const lag = await log.lag(ANALYTICS_GROUP).catch(() => null);
      if (lag === null) return;
      this.set(Math.max(0, ...lag.map(({ oldestAgeMs }) => oldestAgeMs)) / 1000);
    },
  });
}
