import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DisjointSets } from '../src/conversations/disjoint-sets';
import { threadGroups } from '../src/conversations/thread-groups';
import { threadMessage } from '../src/conversations/thread-message';
import type { ThreadMessage } from '../src/conversations/threading';
import { readMessage } from '../src/reading/read-message';

/** Pairs of messages that are together in both, in `found`, and in `truth`. */
export interface PairScore {
  precision: number;
  recall: number;
  f1: number;
}

export function pairScore(found: string[][], truth: string[][]): PairScore {
  const groupOf = new Map(truth.flatMap((group, index) => group.map((id) => [id, index] as const)));
  const pairs = (count: number) => (count * (count - 1)) / 2;
  let common = 0;
  for (const group of found) {
    for (const part of Map.groupBy(group, (id) => groupOf.get(id)).values())
      common += pairs(part.length);
  }
  const foundPairs = found.reduce((sum, group) => sum + pairs(group.length), 0);
  const truePairs = truth.reduce((sum, group) => sum + pairs(group.length), 0);
  const precision = foundPairs === 0 ? 1 : common / foundPairs;
  const recall = truePairs === 0 ? 1 : common / truePairs;
  return {
    precision,
    recall,
    f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall),
  };
}

/** Connected components of In-Reply-To and References, lost messages included. */
export function headerGraph(messages: readonly ThreadMessage[]): string[][] {
  const sets = new DisjointSets();
  for (const message of messages) {
    for (const id of [message.messageId, message.inReplyTo, ...message.references]) {
      if (id !== null) sets.join(message.id, `<${id}>`);
    }
  }
  return sets.groups(messages.map((message) => message.id));
}

/** The messages, with a share of the replies stripped of In-Reply-To, References and Thread-Index. */
export function stripReplies(
  messages: readonly ThreadMessage[],
  share: number,
  random: () => number,
): ThreadMessage[] {
  return messages.map((message) => {
    const isReply = message.inReplyTo !== null || message.references.length > 0;
    if (!isReply || random() >= share) return message;
    return { ...message, inReplyTo: null, references: [], threadIndexRoot: null };
  });
}

/** Mulberry32: the same numbers in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

export function messagesOf(path: string): Buffer[] {
  return filesUnder(path).flatMap((file) => {
    const content = readFileSync(file);
    if (!content.subarray(0, 5).equals(Buffer.from('From '))) return [content];
    return content
      .toString('latin1')
      .split(/(?:^|\r?\n\r?\n)From \S.*\d{4}.*\r?\n/)
      .filter((text) => text.trim() !== '')
      .map((text) => Buffer.from(text, 'latin1'));
  });
}

function main(paths: string[]): void {
  for (const path of paths) {
    const seen = new Set<string>();
    const messages = messagesOf(path).flatMap((raw, index) => {
      const message = threadMessage(readMessage(raw), {
        id: String(index),
        mailboxAddress: 'archive@reader.example',
        contentHash: createHash('sha256').update(raw).digest('hex'),
        receivedAt: 0,
      });
      if (message.messageId !== null && seen.has(message.messageId)) return [];
      if (message.messageId !== null) seen.add(message.messageId);
      return [message];
    });
    const truth = headerGraph(messages);
    const complete = pairScore(threadGroups(messages), truth);
    const scores = Array.from({ length: 10 }, (_, seed) =>
      pairScore(threadGroups(stripReplies(messages, 0.2, seededRandom(seed + 1))), truth),
    );
    const f1s = scores.map((score) => score.f1).sort((a, b) => a - b);
    const mean = (pick: (score: PairScore) => number) =>
      scores.reduce((sum, score) => sum + pick(score), 0) / scores.length;
    process.stdout.write(
      `${path}: ${messages.length} messages, ${truth.length} threads; all headers F1 ${complete.f1.toFixed(4)} ` +
        `(p ${complete.precision.toFixed(4)}); 20 % stripped p ${mean((s) => s.precision).toFixed(3)} ` +
        `r ${mean((s) => s.recall).toFixed(3)} F1 ${mean((s) => s.f1).toFixed(3)}, worst ${f1s[0]!.toFixed(3)}\n`,
    );
  }
}

if (require.main === module) main(process.argv.slice(2));
