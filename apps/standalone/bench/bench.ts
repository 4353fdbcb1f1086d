import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchRun, CHECKOUT } from './bench-run';
import { conditions } from './conditions';
import { FULL, QUICK, type Effort } from './effort';
import { renderTable, type Measurement } from './measurement';
import { measureAccept } from './sections/accept';
import { measureAuth } from './sections/auth';
import { measureCompose } from './sections/compose';
import { measureList } from './sections/list';
import { measureStart } from './sections/start';
import { measureStore } from './sections/store';

const SECTIONS = {
  accept: measureAccept,
  store: measureStore,
  compose: measureCompose,
  list: measureList,
  auth: measureAuth,
  start: measureStart,
} satisfies Record<string, (run: BenchRun, effort: Effort) => Promise<Measurement[]>>;

type SectionName = keyof typeof SECTIONS;

const PAGE = join(CHECKOUT, 'docs/performance.md');
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

  const measurements: Measurement[] = [];
  const failures: string[] = [];
  const background = [...conditions(), ...(isQuick ? ['--quick: too short for a verdict'] : [])];
  try {
    for (const name of sections) {
      const started = performance.now();
      run.say(`\n${name} …`);
      try {
        measurements.push(...(await SECTIONS[name](run, effort)));
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
  const result = `${renderTable(measurements)}\n\n${background.map((line) => `- ${line}`).join('\n')}\n`;
  process.stdout.write(`\n${result}`);
  for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
  if (measurements.some((line) => line.verdict === 'peer absent')) {
    process.stdout.write(
      '\n*** A PEER WAS ABSENT: run as root on Debian, or install postfix; nothing was compared. ***\n',
    );
  }
  if (write && failures.length === 0) writePage(result);
  return failures.length > 0 ? 1 : 0;
}

/** Replaces the generated part of the page. */
function writePage(result: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${PAGE} lacks the marks of its generated part.`);
  writeFileSync(PAGE, `${page.slice(0, begin + BEGIN.length)}\n\n${result}\n${page.slice(end)}`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
