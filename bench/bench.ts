import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { BenchRun, CHECKOUT } from './bench-run';
import { conditions } from './conditions';
import { FULL, QUICK, type Effort } from './effort';
import { renderChart } from './chart';
import type { Measurement } from './measurement';
import {
  driftOfPeers,
  measurementsOf,
  mergeReports,
  renderReport,
  type Report,
  type SectionResult,
} from './report';
import { measureAccept } from './sections/accept';
import { measureAuth } from './sections/auth';
import { measureCompose } from './sections/compose';
import { measureList } from './sections/list';
import { measureLog } from './sections/log';
import { measureReaction } from './sections/reaction';
import { measureStart } from './sections/start';
import { measureStore } from './sections/store';
import { measureWebhooks } from './sections/webhooks';

const SECTIONS = {
  accept: measureAccept,
  store: measureStore,
  compose: measureCompose,
  list: measureList,
  auth: measureAuth,
  log: measureLog,
  webhooks: measureWebhooks,
  reaction: measureReaction,
  start: measureStart,
} satisfies Record<string, (run: BenchRun, effort: Effort) => Promise<Measurement[]>>;

type SectionName = keyof typeof SECTIONS;

const PAGE = join(CHECKOUT, 'docs/performance.md');
const PICTURE = join(CHECKOUT, 'docs/performance.svg');
const RESULTS = join(__dirname, 'results.json');
const BEGIN = '<!-- npm run bench -- --write: begin -->';
const END = '<!-- npm run bench -- --write: end -->';
const USAGE = `Usage: npm run bench -- [${Object.keys(SECTIONS).join(' | ')}]… [--quick] [--write]`;

interface Arguments {
  sections: SectionName[];
  effort: Effort;
  isQuick: boolean;
  write: boolean;
}

/** @throws Error with the usage */
function readArguments(args: readonly string[]): Arguments {
  const sections = args.filter((arg) => !arg.startsWith('--'));
  const flags = args.filter((arg) => arg.startsWith('--'));
  const isKnown = (name: string): name is SectionName => name in SECTIONS;
  const unknown = [
    ...sections.filter((name) => !isKnown(name)),
    ...flags.filter((flag) => flag !== '--quick' && flag !== '--write'),
  ];
  if (unknown.length > 0) throw new Error(`${unknown.join(' ')} is not known. ${USAGE}`);
  const isQuick = flags.includes('--quick');
  const all = Object.keys(SECTIONS) as SectionName[];
  return {
    sections: sections.length === 0 ? all : sections.filter(isKnown),
    effort: isQuick ? QUICK : FULL,
    isQuick,
    write: flags.includes('--write'),
  };
}

async function main(): Promise<number> {
  const { sections, effort, isQuick, write } = readArguments(process.argv.slice(2));
  const run = new BenchRun();
  const stop: { done: Promise<void> | null } = { done: null };
  const interrupt = (): void => {
    if (stop.done !== null) return;
    run.say('\nStopping and cleaning up …');
    stop.done = run.end().then(() => process.exit(130));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);

  const results: Record<string, SectionResult> = {};
  const failures: string[] = [];
  const background = conditions();
  const date = new Date().toISOString().slice(0, 10);
  try {
    for (const name of sections) {
      const started = performance.now();
      run.say(`\n${name} …`);
      try {
        results[name] = { date, isQuick, measurements: await SECTIONS[name](run, effort) };
      } catch (error) {
        // Its processes were taken away: what it says about that is of no interest.
        if (stop.done !== null) await stop.done;
        failures.push(`${name}: ${(error as Error).message}`);
        run.say(`${name} failed: ${(error as Error).stack ?? String(error)}`);
      }
      run.say(`${name}: ${Math.round((performance.now() - started) / 1000)} s`);
    }
  } finally {
    await (stop.done ?? run.end());
  }
  const report: Report = { conditions: background, sections: results };
  process.stdout.write(`\n${renderReport(report)}`);
  for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
  for (const drift of driftOfPeers(knownReport(), report))
    process.stdout.write(`WARNING ${drift}\n`);
  if (measurementsOf(report).some((line) => line.verdict === 'peer absent')) {
    process.stdout.write(
      '\n*** A PEER WAS ABSENT, and nothing was compared with it. Run as root on Debian (the bench then installs what it needs), or: apt-get install postfix redis-server ***\n',
    );
  }
  if (write) await writePage(report);
  return failures.length > 0 ? 1 : 0;
}

function knownReport(): Report | null {
  return existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Report) : null;
}

/** Puts the sections that ran among the results of earlier runs and makes page and picture of all. */
async function writePage(ran: Report): Promise<void> {
  const report = mergeReports(knownReport(), ran, Object.keys(SECTIONS));
  const page = readFileSync(PAGE, 'utf8');
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${PAGE} lacks the marks of its generated part.`);
  const text = `${page.slice(0, begin + BEGIN.length)}\n\n${renderReport(report)}\n${page.slice(end)}`;
  writeFileSync(PAGE, await format(text, { parser: 'markdown', printWidth: 100 }));
  writeFileSync(PICTURE, renderChart(measurementsOf(report)));
  writeFileSync(RESULTS, await format(JSON.stringify(report), { parser: 'json', printWidth: 100 }));
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
