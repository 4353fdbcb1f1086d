import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const CORPORA = join(__dirname, 'corpora');

export interface TruePart {
  path: string;
  content_type: string;
  encoding: string;
  size: number;
  sha256: string;
}

/** What other parsers say about a message; see corpora/README.md. */
export interface TrueFacts {
  from: [string, string][] | null;
  to: [string, string][] | null;
  cc: [string, string][] | null;
  subject: string;
  date: string | null;
  message_id: string | null;
  references: string[];
  attachment_names: string[];
  text: string | null;
  html: string | null;
}

export function readCorpusMessage(corpus: 'mime' | 'parser-json', name: string): Buffer {
  return readFileSync(join(CORPORA, corpus, name));
}

export function readMimeTruth(): Record<string, { parts: TruePart[] }> {
  return readJson('mime/truth.json');
}

export function readHeadlines(): Record<string, TrueFacts> {
  return readJson('parser-json/headline.json');
}

export function allCorpusMessages(): Buffer[] {
  return [
    ...Object.keys(readMimeTruth()).map((name) => readCorpusMessage('mime', name)),
    ...Object.keys(readHeadlines()).map((name) => readCorpusMessage('parser-json', name)),
  ];
}

/** The same message with another line end; binary contents change with it. */
export function withLineEnds(raw: Buffer, lineEnd: '\n' | '\r\n' | '\r'): Buffer {
  return Buffer.from(raw.toString('latin1').replace(/\r?\n/g, lineEnd), 'latin1');
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(CORPORA, name), 'utf8')) as T;
}
