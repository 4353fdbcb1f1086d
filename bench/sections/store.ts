import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, type BenchRun } from '../bench-run';
import { callApi, startDak, type Dak } from '../dak-process';
import type { Effort } from '../effort';
import { InboundProgress } from '../inbound-progress';
import { judged, median, noted, perSecond, type Measurement } from '../measurement';
import { runProgram } from '../programs';

const SECTION = 'store';
const BAR = 400;
const GENERATED = 4_000;
const CORPUS_MESSAGES = 4_000;
const SESSIONS = 10;
const WAIT_SECONDS = 240;
const CORPORA = ['libs/formats/rfc5322/test/corpora', 'apps/mail/test'];
const DRIVER = 'apps/mail/bench/smtp-accept.bench.ts';

interface Driven {
  refused: number;
  firstAcceptedAt: number;
}

/** From the first message accepted until the last one is in its conversation, read, threaded and visible. */
export async function measureStore(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const files = corpusFiles();
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const dak = await startDak(run, SECTION);
  const progress = await InboundProgress.open(dak.mailDatabaseUrl);
  const port = String(dak.smtp.port);
  const copies = Math.max(1, Math.round((CORPUS_MESSAGES * effort.share) / files.length));
  const generated = Math.round(GENERATED * effort.share);
  const rates: Record<'corpus' | 'generated', number[]> = { corpus: [], generated: [] };
  let stored = 0;

  for (let round = 0; round <= effort.rounds; round += 1) {
    // A copy per mailbox: a mailbox keeps the same message once only.
    const recipients = await newMailboxes(dak, round, round === 0 ? 2 : copies);
    const corpus = await timed(progress, recipients.length * files.length, () =>
      runProgram<Driven>(run, DRIVER, [
        ...['replay', port, String(SESSIONS), recipients.join(','), ...files],
      ]),
    );
    const count = round === 0 ? 500 : generated;
    const plain = await timed(progress, count, () =>
      runProgram<Driven>(run, DRIVER, [
        ...['load', port, String(SESSIONS), String(count), '4096', dak.mailboxes[0]!.address],
      ]),
    );
    if (round > 0) {
      rates.corpus.push(corpus.rate);
      rates.generated.push(plain.rate);
      stored += corpus.stored + plain.stored;
    }
    await progress.settle();
    run.say(`store, round ${round}: ${JSON.stringify(rates)}`);
  }
  await progress.close();
  await dak.stop();
  const line = (what: string, label: string, values: number[]) =>
    judged({
      ...{ section: SECTION, what, label, measured: perSecond(median(values)) },
      ratio: median(values) / BAR,
      comparison: 'at least',
      bar: 1,
      barText: `≥ ${BAR}/s`,
    });
  return [
    line(
      `parse to stored: ${files.length} real and hostile messages (${Math.round(bytes / files.length / 1024)} KB on average), ${copies} mailboxes each`,
      'parse to stored, real mail',
      rates.corpus,
    ),
    line('parse to stored: generated messages of 4 KB', 'parse to stored, 4 KB', rates.generated),
    noted(SECTION, 'messages stored in all rounds, none missing', String(stored)),
  ];
}

async function timed(
  progress: InboundProgress,
  expected: number,
  drive: () => Promise<Driven>,
): Promise<{ rate: number; stored: number }> {
  const before = await progress.stored();
  const driven = await drive();
  if (driven.refused > 0) throw new Error(`Dak refused ${driven.refused} messages.`);
  await progress.untilDrained(WAIT_SECONDS);
  const seconds = (Date.now() - driven.firstAcceptedAt) / 1000;
  const stored = (await progress.stored()) - before;
  // Corpora hold a few messages twice, which a mailbox rightly keeps once.
  if (stored < expected * 0.9)
    throw new Error(`Only ${stored} of ${expected} messages are stored.`);
  return { rate: expected / seconds, stored };
}

async function newMailboxes(dak: Dak, round: number, count: number): Promise<string[]> {
  const addresses = Array.from({ length: count }, (_, n) => `corpus-${round}-${n}@dak.example`);
  for (const address of addresses) await callApi(dak, 'POST', '/mailboxes', { address });
  return addresses;
}

function corpusFiles(): string[] {
  const visit = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return visit(path);
      return /\.(eml|msg)$/.test(entry.name) ? [path] : [];
    });
  return CORPORA.flatMap((folder) => visit(join(CHECKOUT, folder))).sort();
}
