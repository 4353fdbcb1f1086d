import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRun } from '../bench-run';
import type { Effort } from '../effort';
import { measureHttp, requireSuccess, type HttpLoadResult } from '../http-load';
import { judged, median, milliseconds, noted, perSecond, type Measurement } from '../measurement';
import { startCluster } from '../postgres-cluster';
import { programOutput, startProgram } from '../programs';

const SECTION = 'auth';
const BAR_MS = 0.3;

/** A route that does nothing, with and without a credential to check; and the check alone. */
export async function measureAuth(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const cluster = await startCluster(run, SECTION);
  const keyFile = join(run.folder, 'api-key');
  const gateway = await startProgram(run, 'gateway-probe', 'gateway-probe.ts', [
    cluster.adminUrl,
    keyFile,
  ]);
  const key = readFileSync(keyFile, 'utf8');
  const site = `http://127.0.0.1:${gateway.port}/api/v1`;
  const open = { url: `${site}/probe-public` };
  const closed = { url: `${site}/probe`, headers: { authorization: `Bearer ${key}` } };
  const lines: Measurement[] = [];
  for (const connections of [1, 16]) {
    const results: Record<'open' | 'closed', HttpLoadResult[]> = { open: [], closed: [] };
    // Slice 0 warms up. Short slices: the two differ by less than a machine drifts in seconds.
    for (let slice = 0; slice <= effort.slices * 2; slice += 1) {
      const load = { connections, seconds: effort.sliceSeconds / 2 };
      const openResult = requireSuccess('auth', await measureHttp({ ...open, ...load }));
      const closedResult = requireSuccess('auth', await measureHttp({ ...closed, ...load }));
      if (slice === 0) continue;
      results.open.push(openResult);
      results.closed.push(closedResult);
    }
    const p50 = (which: 'open' | 'closed') => median(results[which].map((result) => result.p50));
    const rate = (which: 'open' | 'closed') =>
      median(results[which].map((result) => result.requestsPerSecond));
    const added = p50('closed') - p50('open');
    const s = connections === 1 ? '' : 's';
    lines.push(
      judged({
        section: SECTION,
        what: `a trivial route with a key, ${connections} connection${s}: added at p50`,
        label: `authentication, ${connections} connection${s}: added at p50`,
        measured: milliseconds(added),
        peer: `${milliseconds(p50('closed'))} against ${milliseconds(p50('open'))}; ${perSecond(rate('closed'))} against ${perSecond(rate('open'))}`,
        ratio: added / BAR_MS,
        comparison: 'at most',
        bar: 1,
        barText: `< ${BAR_MS} ms`,
      }),
    );
  }
  await gateway.stop();
  await cluster.stop();
  const alone = await programOutput(run, 'apps/gateway/bench/authentication.bench.ts', []);
  for (const line of alone.trim().split('\n')) {
    const [what = '', figures = ''] = line.split(/ {2,}(?=p50)/);
    lines.push(noted(SECTION, `the check alone, ${what}`, figures.trim()));
  }
  return lines;
}
