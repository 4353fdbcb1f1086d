import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from './seeded-random';
import type { SupervisedProcess } from './supervised-process';

/** Something that happens to the surroundings, such as the restart of a database. */
export interface Fault {
  name: string;
  /** In how many of a hundred rounds it happens. */
  share: number;
  strike: () => Promise<void>;
}

export interface NemesisOptions {
  rounds: number;
  /** What is killed and frozen. */
  victims: readonly SupervisedProcess[];
  faults: readonly Fault[];
  /** How long a frozen process sleeps: longer than its lease. */
  freezeMs: number;
  seed: number;
  /** Between two rounds. @default [200, 800] */
  everyMs?: readonly [number, number];
}

export interface NemesisReport {
  /** How often each thing was done, by its name. */
  done: Record<string, number>;
  /** How often something was done to a victim, by its name. */
  byVictim: Record<string, number>;
}

const FREEZES_PER_HUNDRED = 15;

/**
 * Kills processes at random, freezes some past their lease, and strikes at what they depend on. Each
 * fault happens at least once. Returns when all frozen processes go on again.
 */
export async function runNemesis(options: NemesisOptions): Promise<NemesisReport> {
  const { rounds, victims, faults, freezeMs, everyMs = [200, 800] } = options;
  const random = seededRandom(options.seed);
  const report: NemesisReport = { done: {}, byVictim: {} };
  const count = (record: Record<string, number>, name: string): void => {
    record[name] = (record[name] ?? 0) + 1;
  };
  const frozen = new Map<SupervisedProcess, Promise<void>>();
  const plan = planFaults(rounds, faults, random);
  for (let round = 0; round < rounds; round += 1) {
    await delay(everyMs[0] + random() * (everyMs[1] - everyMs[0]));
    const fault = plan.get(round);
    if (fault !== undefined) {
      await fault.strike();
      count(report.done, fault.name);
      continue;
    }
    const awake = victims.filter((victim) => !frozen.has(victim));
    const victim = awake[Math.floor(random() * awake.length)];
    if (victim === undefined) continue;
    count(report.byVictim, victim.name);
    if (random() * 100 < FREEZES_PER_HUNDRED) {
      count(report.done, 'freeze');
      frozen.set(
        victim,
        victim.freeze(freezeMs).finally(() => frozen.delete(victim)),
      );
    } else {
      count(report.done, 'kill');
      victim.kill();
    }
  }
  await Promise.all(frozen.values());
  return report;
}

/** Which fault happens in which round. */
function planFaults(
  rounds: number,
  faults: readonly Fault[],
  random: () => number,
): Map<number, Fault> {
  const plan = new Map<number, Fault>();
  for (const fault of faults) {
    const times = Math.max(1, Math.round((rounds * fault.share) / 100));
    for (let n = 0; n < times; n += 1) {
      let round = Math.floor(random() * rounds);
      while (plan.has(round)) round = (round + 1) % rounds;
      plan.set(round, fault);
    }
  }
  return plan;
}
