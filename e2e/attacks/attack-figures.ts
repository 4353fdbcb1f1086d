import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { descendants } from '@dak/testing/process-memory';
import { timePasses } from '@dak/testing/waiting';
import type { Measured } from './attack-neighbors';

export interface Figures {
  /** 99th percentile of the user's answers in each window, in milliseconds. */
  windows: number[];
  /** The longest from a 250 until a list shows the mail, in milliseconds. */
  visible: number;
  /** Most that Dak and its PostgreSQL held, without what PostgreSQL's processes share, in MB. */
  memory: number;
  /** Dak's part of it. */
  own: number;
  failures: string[];
}

/** Measures the neighbors for some windows one after the other. */
export async function measure(
  neighbors: ChildProcess,
  { dak, postgres }: { dak: number; postgres: number },
  windows: number,
  windowMs: number,
): Promise<Figures> {
  forgetPeak(dak);
  await cut(neighbors);
  const figures: Figures = { windows: [], visible: 0, memory: 0, own: 0, failures: [] };
  for (let window = 0; window < windows; window += 1) {
    await timePasses(windowMs);
    const { answers, visible, failures } = await cut(neighbors);
    figures.windows.push(percentile(answers, 0.99));
    figures.visible = Math.max(figures.visible, ...visible);
    figures.failures.push(...failures);
  }
  figures.own = megabytes(dak, 'status', 'VmHWM');
  figures.memory =
    figures.own +
    descendants(postgres).reduce((sum, pid) => sum + megabytes(pid, 'smaps_rollup', 'Pss_Anon'), 0);
  return figures;
}

/** What the neighbors measured since the last call. */
function cut(neighbors: ChildProcess): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the neighbors have gone'));
    neighbors.once('exit', gone);
    neighbors.once('message', (measured) => {
      neighbors.off('exit', gone);
      resolve(measured as Measured);
    });
    neighbors.send('cut');
  });
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

/** Lets the kernel begin a new peak of the resident set (proc_pid_clear_refs(5)). */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function megabytes(pid: number, file: string, field: string): number {
  let text = '';
  try {
    text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // A process of PostgreSQL that has just ended.
  }
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
}
