import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { leaveRunServers } from '@dak/testing/database';
import { threadGroups } from '../src/conversations/threading/thread-groups';
import type { ThreadMessage } from '../src/conversations/threading/threading';
import { threadMessage } from '../src/receiving/pipeline/thread-message';
import { readMessage } from '../src/receiving/reading/read-message';
import { openInbound } from '../test/inbound-fixtures';
import { openMailDatabase } from '../test/mail-fixtures';
import { archiveMessages, withoutThreadFields } from './archive-files';
import { headerGraph, pairScore, seededRandom, type PairScore } from './pair-score';
import { syntheticArchives } from './synthetic-archives';
import { threadInDatabase, type ArchiveMessage, type Arrival } from './thread-in-database';

const USAGE = `Scores threading: the share of pairs of messages that are rightly in one conversation.

  tsx apps/mail/bench/thread-archives.bench.ts [--strip 0.2] [--seeds 3] [--orders 3] [--made] [ARCHIVE…]

ARCHIVE is an mbox, an .eml, or a folder of them; --made adds the archives that are made up here. Each
archive goes through the pipeline into a database of its own with all headers, and once per seed with
a share of the replies stripped of In-Reply-To, References and Thread-Index, in so many orders of
arrival. The truth is the graph of the complete headers; replies that never had any are left out, since
nobody knows where they belong.`;

interface Archive {
  name: string;
  messages: ArchiveMessage[];
  truth: string[][];
  leftOut: number;
}

interface Run extends PairScore {
  isSameInEveryOrder: boolean;
}

function parsed({ id, raw }: ArchiveMessage): ThreadMessage {
  return threadMessage(readMessage(raw), {
    id,
    mailboxAddress: 'archive@reader.example',
    contentHash: createHash('sha256').update(raw).digest('hex'),
    receivedAt: 0,
  });
}

async function readArchive(path: string): Promise<Archive> {
  const copies = new Set<string>();
  const messages = (await archiveMessages(path))
    .map((raw, index) => ({ id: String(index), raw }))
    .filter(({ raw }) => {
      const { messageId } = readMessage(raw);
      if (messageId === null || copies.has(messageId)) return messageId === null;
      copies.add(messageId);
      return true;
    });
  const kept = messages.filter((message) => {
    const thread = parsed(message);
    return isNamingReply(thread) || !thread.isReplySubject;
  });
  return {
    name: basename(path),
    messages: kept,
    truth: headerGraph(kept.map(parsed)),
    leftOut: messages.length - kept.length,
  };
}

function madeArchives(): Archive[] {
  return syntheticArchives().map(({ name, raws, threadOf }) => {
    const messages = raws.map((raw) => ({ id: readMessage(raw).messageId!, raw }));
    const groups = Map.groupBy(threadOf.keys(), (id) => threadOf.get(id));
    return { name, messages, truth: [...groups.values()], leftOut: 0 };
  });
}

function isNamingReply(message: ThreadMessage): boolean {
  return message.inReplyTo !== null || message.references.length > 0;
}

function stripped(archive: Archive, share: number, seed: number): ArchiveMessage[] {
  const random = seededRandom(seed);
  return archive.messages.map((message) =>
    isNamingReply(parsed(message)) && random() < share
      ? { ...message, raw: withoutThreadFields(message.raw) }
      : message,
  );
}

/** One text for one partition, whatever the order of its groups. */
function canonical(groups: readonly (readonly string[])[]): string {
  return groups
    .map((group) => group.toSorted().join(' '))
    .toSorted()
    .join('\n');
}

function arrivals(orders: number): Arrival[] {
  const drawn = Array.from({ length: Math.max(0, orders - 2) }, (_, i) => seededRandom(1000 + i));
  return (['as filed', 'reversed', ...drawn] as Arrival[]).slice(0, orders);
}

async function openBench() {
  const mail = await openMailDatabase(8);
  const inbound = await openInbound(mail.database, { batchSize: 20 });
  return {
    async run(messages: ArchiveMessage[], truth: string[][], orders: number): Promise<Run> {
      const partitions: string[] = [canonical(threadGroups(messages.map(parsed)))];
      let score: PairScore = pairScore(threadGroups(messages.map(parsed)), truth);
      for (const arrival of arrivals(orders)) {
        const groups = await threadInDatabase(mail.database, inbound, messages, arrival);
        score = pairScore(groups, truth);
        partitions.push(canonical(groups));
      }
      return { ...score, isSameInEveryOrder: new Set(partitions).size === 1 };
    },
    async close() {
      await inbound.close();
      await mail.close();
      await leaveRunServers();
    },
  };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      strip: { type: 'string', default: '0.2' },
      seeds: { type: 'string', default: '3' },
      orders: { type: 'string', default: '3' },
      made: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help || (positionals.length === 0 && !values.made)) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const archives = values.made ? madeArchives() : [];
  for (const path of positionals) archives.push(await readArchive(path));
  const share = Number(values.strip);
  const orders = Number(values.orders);
  const bench = await openBench();
  const started = performance.now();
  let stored = 0;
  const line = (cells: readonly string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
  const percent = `${Math.round(share * 100)} %`;
  line([
    'Archive',
    'Messages',
    'Threads',
    'Left out',
    'F1, all headers',
    `Precision, ${percent} stripped`,
    'Recall',
    'F1',
    'F1, worst',
    'Same in every order',
  ]);
  line(['---', ...Array.from({ length: 8 }, () => '---:'), '---']);
  for (const archive of archives) {
    const complete = await bench.run(archive.messages, archive.truth, orders);
    const runs: Run[] = [];
    for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
      runs.push(await bench.run(stripped(archive, share, seed), archive.truth, orders));
    }
    stored += archive.messages.length * orders * (1 + runs.length);
    const mean = (pick: (run: Run) => number) =>
      (runs.reduce((sum, run) => sum + pick(run), 0) / Math.max(1, runs.length)).toFixed(3);
    line([
      archive.name,
      String(archive.messages.length),
      String(archive.truth.length),
      String(archive.leftOut),
      complete.f1.toFixed(4),
      mean((run) => run.precision),
      mean((run) => run.recall),
      mean((run) => run.f1),
      Math.min(...runs.map((run) => run.f1)).toFixed(3),
      [complete, ...runs].every((run) => run.isSameInEveryOrder) ? 'yes' : 'NO',
    ]);
  }
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(`\n${stored} messages in ${seconds.toFixed(0)} s\n`);
  await bench.close();
}

if (require.main === module) void main();
