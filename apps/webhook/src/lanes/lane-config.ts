import { createSecretKey, type KeyObject } from 'node:crypto';
import { parseSecret } from '@dak/formats/standard-webhooks';
import type { PaceLimits } from '../decisions/pace';
import type { Sealing } from '../secrets/sealing';
import type { LaneConfigRow } from './lane-store';

/** Defaults of endpoints. */
export const DEFAULT_RATE_PER_SECOND = 5_000;
export const DEFAULT_CONCURRENCY = 32;
export const DEFAULT_TIMEOUT_MS = 15_000;

export interface SigningKey {
  key: KeyObject;
  /** Milliseconds since the epoch; null = current. */
  validUntil: number | null;
}

/** Everything that attempts for an endpoint depend on. */
export interface LaneConfig {
  organizationId: string;
  url: string;
  /** Custom headers. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  limits: PaceLimits;
  isOrdered: boolean;
  /** Otherwise nothing is sent. */
  isSendable: boolean;
  /** When the latest hold of all webhooks ended, milliseconds since the epoch; 0 = never. */
  releasedAt: number;
  stamp: string;
  keys: readonly SigningKey[];
}

/** @throws Error when a sealed value cannot be opened */
export function readLaneConfig(row: LaneConfigRow, sealing: Sealing): LaneConfig {
  const secrets = row.secrets ?? [];
  const hasOwn = secrets.some(({ own, valid_until }) => own && valid_until === null);
  const keys = secrets
    .filter(({ own }) => own === hasOwn)
    .map(({ ciphertext, valid_until }) => ({
      key: createSecretKey(
        parseSecret(sealing.open(Buffer.from(ciphertext, 'base64'), row.organization_id)),
      ),
      validUntil: valid_until === null ? null : Date.parse(valid_until),
    }));
  return {
    organizationId: row.organization_id,
    url: row.url,
    headers:
      row.sealed_headers === null
        ? {}
        : (JSON.parse(sealing.open(row.sealed_headers, row.organization_id)) as Record<
            string,
            string
          >),
    timeoutMs: row.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    limits: {
      ratePerSecond: row.rate_per_second ?? DEFAULT_RATE_PER_SECOND,
      maxConcurrency: row.max_concurrency ?? DEFAULT_CONCURRENCY,
    },
    isOrdered: row.ordering === 'conversation',
    isSendable: row.sendable && keys.length > 0,
    releasedAt: releasedAtOf(row),
    stamp: row.stamp,
    keys,
  };
}

/** When the latest hold of webhooks ended, milliseconds since the epoch; 0 = never. */
export function releasedAtOf({ released_at }: LaneConfigRow): number {
  return released_at === null ? 0 : Date.parse(released_at);
}
