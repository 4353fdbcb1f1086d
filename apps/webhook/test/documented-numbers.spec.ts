import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChangeWebhookSecret } from '@dak/contracts/api';
import { MAX_RESPONSE_BYTES } from '@dak/platform/guarded-http';
import { FAILURES_APART_MS, GIVE_UP_AFTER_MS } from '../src/decisions/auto-disable';
import { JITTER, MAX_ATTEMPTS, MAX_RETRY_AFTER_MS, WAITS } from '../src/decisions/retry-schedule';
import { LONGEST_BLOCK_MS } from '../src/decisions/settle-attempt';
import { MAX_RESPONSE_CHARACTERS } from '../src/lanes/attempt';
import { DEFAULT_TIMEOUT_MS } from '../src/lanes/lane-config';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** `[3600000]` → `1 hour`; `[300000, 1800000]` → `5 and 30 minutes`. Days only for more than one. */
function duration(...all: readonly number[]): string {
  const groups: { unit: string; counts: number[] }[] = [];
  for (const ms of all) {
    const [unit, size] = UNITS.find(
      ([, each]) => ms % each === 0 && (each < 86_400_000 || ms > each),
    )!;
    if (groups.at(-1)?.unit !== unit) groups.push({ unit, counts: [] });
    groups.at(-1)!.counts.push(ms / size);
  }
  return groups
    .map(({ unit, counts }) => {
      const list = [counts.slice(0, -1).join(', '), counts.at(-1)].filter(Boolean).join(' and ');
      return `${list} ${unit}${list === '1' ? '' : 's'}`;
    })
    .join(', ');
}

/** What each text says, computed from the code. */
const STATEMENTS: Record<string, readonly string[]> = {
  'docs/webhooks.md': [
    `Answer 2xx within ${duration(DEFAULT_TIMEOUT_MS)} (`,
    `reads the first ${MAX_RESPONSE_BYTES / 1024} KiB of`,
    `keeps ${MAX_RESPONSE_CHARACTERS.toLocaleString('en').replace(',', ' ')} characters`,
    `makes up to ${MAX_ATTEMPTS} attempts until`,
    `After a failure it waits ${duration(...WAITS.slice(1))}, each ±${100 * JITTER} %.`,
    `makes a wait longer, up to ${duration(MAX_RETRY_AFTER_MS)};`,
    `So do ${duration(GIVE_UP_AFTER_MS)} without a success, if another event failed ${duration(FAILURES_APART_MS)} after`,
    `they wait for each other, for ${duration(LONGEST_BLOCK_MS)} at most;`,
    `(${ChangeWebhookSecret.parse({}).overlap_hours} hours by default)`,
  ],
  'libs/contracts/src/api/webhooks/webhook-records.ts': [
    `no success for ${duration(GIVE_UP_AFTER_MS)};`,
    `First ${MAX_RESPONSE_CHARACTERS.toLocaleString('en').replace(',', ' ')} characters`,
  ],
  'libs/contracts/src/api/webhooks/webhook-requests.ts': [
    `for ${duration(LONGEST_BLOCK_MS)} at most.`,
  ],
};

const WORDS = 'an?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve';
const AMOUNT = new RegExp(
  `\\b(\\d[\\d .,]*|(${WORDS})[ -])(attempts|times|(second|minute|hour|day|week)s?|[KM]iB|characters|%)`,
  'gi',
);

describe('the numbers of webhooks', () => {
  for (const [path, statements] of Object.entries(STATEMENTS)) {
    it(`are in ${path} what they are in the code, and there are no others`, () => {
      const text = readFileSync(join(__dirname, '../../..', path), 'utf8').replaceAll(/\s+/g, ' ');
      const missing = statements.filter((statement) => !text.includes(statement));
      expect(missing).toEqual([]);
      const others = statements.reduce((rest, statement) => rest.replace(statement, ''), text);
      expect(others.match(AMOUNT) ?? []).toEqual([]);
    });
  }
});
