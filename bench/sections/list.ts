import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRun } from '../bench-run';
import { startDak, type Dak } from '../dak-process';
import { startDistributedDak } from '../distributed-dak';
import type { Effort } from '../effort';
import { measureHttp, requireSuccess, type HttpLoadResult } from '../http-load';
import {
  judged,
  median,
  milliseconds,
  noted,
  peerAbsent,
  perSecond,
  perSecondOf,
  type Measurement,
} from '../measurement';
import { observeStatements, type ObservedStatement } from '../observed-statements';
import { startProgram } from '../programs';
import { seedTenant, signIn, type SeededTenant } from '../seeded-tenant';

const SECTION = 'list';
const CONNECTIONS = [16, 32];
const ROUTE = '/conversations';
const TENANT = { conversations: 100_000, messages: 1_000_000, mailboxes: 100 };
const SMALL_TENANT = { conversations: 1_000, messages: 10_000, mailboxes: 100 };

type Target = 'baseline' | 'standalone' | 'standalone, 1 000' | 'distributed' | 'bare hop';
type Targets = [Target, { url: string; headers?: Record<string, string> }][];
type Results = Map<Target, HttpLoadResult[]>;

/**
 * The first page of conversations of a regular user with 20 assigned mailboxes, against a one-file
 * Express and pg program that runs the very statements which the database saw from Dak.
 */
export async function measureList(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const dak = await startDak(run, SECTION);
  const size =
    effort.share === 1 ? TENANT : { ...TENANT, conversations: 10_000, messages: 100_000 };
  run.say(`list: seeding ${size.conversations} conversations, ${size.messages} messages …`);
  const small = await seedTenant(run, dak.adminUrl, SMALL_TENANT);
  const large = await seedTenant(run, dak.adminUrl, size);
  const distributed = await startDistributedDak(run, dak);

  const smallUser = await listOf(dak, small);
  const largeUser = await listOf(dak, large);
  const once = { ...largeUser, connections: 1, requests: 1 };
  // The first request prepares and plans; the second is what the others are like.
  requireSuccess('list', await measureHttp(once));
  const observed = await observeStatements(dak.adminUrl, dak.postgresLog, () => measureHttp(once));
  const file = join(run.folder, 'statements.json');
  writeFileSync(
    file,
    JSON.stringify({ url: dak.mailDatabaseUrl, statements: statementsOfThePage(observed) }),
  );
  const baseline = await startProgram(run, 'baseline', 'baseline-express.ts', [file]);
  const back = await startProgram(run, 'hop-back', 'baseline-hop.ts', ['back', file]);
  const front = await startProgram(run, 'hop-front', 'baseline-hop.ts', [
    'front',
    String(back.port),
  ]);

  const targets: Targets = [
    ['baseline', { url: `http://127.0.0.1:${baseline.port}${ROUTE}` }],
    ['standalone', largeUser],
    ['standalone, 1 000', smallUser],
    ['bare hop', { url: `http://127.0.0.1:${front.port}${ROUTE}` }],
  ];
  if (distributed !== null) {
    targets.push(['distributed', { ...largeUser, url: `${distributed.base_url}${ROUTE}` }]);
  }
  const lines: Measurement[] = [];
  for (const connections of CONNECTIONS) {
    const results: Results = new Map();
    // Slice 0 warms up.
    for (let slice = 0; slice <= effort.slices; slice += 1) {
      for (const [name, target] of targets) {
        const seconds = effort.sliceSeconds;
        const result = requireSuccess(name, await measureHttp({ ...target, connections, seconds }));
        if (slice > 0) results.set(name, [...(results.get(name) ?? []), result]);
        run.say(`list, ${connections} connections, slice ${slice}, ${name}: ${describe(result)}`);
      }
    }
    lines.push(...judge(connections, results));
  }
  for (const part of [front, back, baseline, distributed, dak]) await part?.stop();
  return lines;
}

async function listOf(dak: Dak, tenant: SeededTenant) {
  const token = await signIn(dak.base_url, tenant.email, dak.admin.password);
  return { url: `${dak.base_url}${ROUTE}`, headers: { authorization: `Bearer ${token}` } };
}

/** Naming the tenant is not part of the question, and workers of other tables run beside it. */
function statementsOfThePage(observed: readonly ObservedStatement[]): ObservedStatement[] {
  const found = observed.filter(({ name }) => name.startsWith('conversations_'));
  if (found.length === 2) return found;
  throw new Error(
    `list: the page took ${found.length} statements instead of its rows and its total.`,
  );
}

function judge(connections: number, results: Results): Measurement[] {
  const of = (target: Target, pick: (result: HttpLoadResult) => number) =>
    median(results.get(target)!.map(pick));
  const rates = (target: Target) => results.get(target)!.map((r) => r.requestsPerSecond);
  const rate = (target: Target) => median(rates(target));
  const p50 = (target: Target) => of(target, (r) => r.p50);
  const p99 = (target: Target) => of(target, (r) => r.p99);
  const throughput = (target: Target, bar: number) =>
    judged({
      section: SECTION,
      what: `GET /conversations, ${connections} connections, ${target}: requests`,
      label: `${connections} connections, ${target}: req/s / Express + pg`,
      measured: perSecondOf(rates(target)),
      peer: `Express + pg: ${perSecondOf(rates('baseline'))}`,
      peerRate: rate('baseline'),
      ratio: rate(target) / rate('baseline'),
      comparison: 'at least',
      bar,
    });
  const tail = (target: Target, peer: 'baseline' | 'bare hop') =>
    judged({
      section: SECTION,
      what: `GET /conversations, ${connections} connections, ${target}: p99`,
      label: `${connections} connections, ${target}: p99`,
      measured: milliseconds(p99(target)),
      peer: `${peer === 'baseline' ? 'Express + pg' : 'bare hop'}: ${milliseconds(p99(peer))}`,
      ratio: p99(target) / p99(peer),
      comparison: 'at most',
      bar: 1.3,
    });
  const bytes = of('standalone', (r) => r.bodyBytes);
  const hop = rate('bare hop') / rate('baseline');
  return [
    throughput('standalone', 0.75),
    tail('standalone', 'baseline'),
    judged({
      section: SECTION,
      what: `GET /conversations, ${connections} connections, 100 000 against 1 000 conversations: p50`,
      label: `${connections} connections, 100 000 against 1 000 conversations`,
      measured: milliseconds(p50('standalone')),
      peer: `1 000: ${milliseconds(p50('standalone, 1 000'))}`,
      ratio: p50('standalone') / p50('standalone, 1 000'),
      comparison: 'at most',
      bar: 1.3,
    }),
    ...(results.has('distributed')
      ? [throughput('distributed', Math.round(hop * 100) / 100), tail('distributed', 'bare hop')]
      : [
          peerAbsent(
            SECTION,
            'gateway and mail as two processes (needs redis-server)',
            'as many as the bare hop',
          ),
        ]),
    noted(
      SECTION,
      `bare grpc-js hop without authentication, ${connections} connections`,
      `${perSecond(rate('bare hop'))} = ${(100 * hop).toFixed(0)} % of Express + pg, p99 ${milliseconds(p99('bare hop'))}`,
      `answers: Dak ${Math.round(bytes / 1024)} KB, Express + pg ${Math.round(of('baseline', (r) => r.bodyBytes) / 1024)} KB`,
    ),
  ];
}

function describe(result: HttpLoadResult): string {
  return `${perSecond(result.requestsPerSecond)}, p50 ${milliseconds(result.p50)}, p99 ${milliseconds(result.p99)}, ${result.bodyBytes} bytes`;
}
