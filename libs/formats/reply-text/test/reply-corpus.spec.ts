import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseMessage } from '@dak/formats/rfc5322';

import { extractReply } from '../src';

interface Case {
  id: string;
  kind: 'text' | 'html' | 'eml';
  input: string;
  expected?: string;
  expected_no_space?: string;
  starts_with?: string;
  contains?: string | string[];
  not_contains?: string | string[];
}

const cases = JSON.parse(
  readFileSync(join(__dirname, 'corpora', 'replies', 'cases.json'), 'utf8'),
) as Case[];

function newText({ kind, input }: Case): string {
  if (kind === 'html') return extractReply({ text: null, html: input }).text ?? '';
  const text = kind === 'eml' ? parseMessage(Buffer.from(input)).text : input;
  return extractReply({ text, html: null }).text ?? '';
}

describe('the replies of the corpus', () => {
  it.each(cases.map((one) => [one.id, one] as const))('%s', (_, one) => {
    const text = newText(one);
    if (one.expected !== undefined) expect(text).toBe(one.expected.trim());
    if (one.expected_no_space !== undefined) {
      expect(text.replace(/\s+/g, '')).toBe(one.expected_no_space);
    }
    expect(text.startsWith(one.starts_with ?? '')).toBe(true);
    for (const part of [one.contains ?? []].flat()) expect(text).toContain(part);
    for (const part of [one.not_contains ?? []].flat()) expect(text).not.toContain(part);
  });
});
