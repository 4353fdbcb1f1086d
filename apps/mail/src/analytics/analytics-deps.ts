import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';

export interface AnalyticsDeps {
  database: Database;
  clock: Clock;
}
