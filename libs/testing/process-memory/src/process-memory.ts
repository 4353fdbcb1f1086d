import { readFileSync, readdirSync } from 'node:fs';

export interface TreeMemory {
  readonly processes: number;
  /** Sum of the resident sets, in MB: shared pages count once per process. */
  readonly rssMb: number;
  /** Sum of the proportional sets, in MB: shared pages are divided among those who share them. */
  readonly pssMb: number;
}

/** Memory of a process and all its descendants (Linux; reading other users' processes needs root). */
export function treeMemory(rootPid: number): TreeMemory {
  const pids = descendants(rootPid);
  let rss = 0;
  let pss = 0;
  let processes = 0;
  for (const pid of pids) {
    const rollup = readOrNull(`/proc/${pid}/smaps_rollup`);
    if (rollup === null) continue;
    processes += 1;
    rss += kilobytes(rollup, 'Rss');
    pss += kilobytes(rollup, 'Pss');
  }
  return { processes, rssMb: rss / 1024, pssMb: pss / 1024 };
}

/** A process and all its descendants. */
export function descendants(rootPid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readOrNull(`/proc/${name}/stat`);
    if (stat === null) continue;
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [rootPid];
  for (let i = 0; i < found.length; i += 1) found.push(...(children.get(found[i]!) ?? []));
  return found;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function kilobytes(rollup: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0);
}
