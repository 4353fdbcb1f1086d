import type { BenchRun } from './bench-run';
import type { Dak } from './dak-process';

export interface DistributedDak {
  readonly base_url: string;
  stop(): Promise<void>;
}
export async function startDistributedDak(_run: BenchRun, _dak: Dak): Promise<DistributedDak> {
  throw new Error('Not there yet.');
}
