import { createReadStream, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { mboxMessages } from '../src/receiving/import/mbox-messages';

/** The raw messages of an mbox file, a single message, or a folder of either. */
export async function archiveMessages(path: string): Promise<Buffer[]> {
  const raws: Buffer[] = [];
  for (const file of filesUnder(path)) {
    const content = readFileSync(file);
    if (!content.subarray(0, 5).equals(Buffer.from('From '))) {
      if (hasHeader(content)) raws.push(content);
      continue;
    }
    for await (const item of mboxMessages(createReadStream(file))) {
      if ('raw' in item) raws.push(item.raw);
    }
  }
  return raws;
}

/**
 * The message without the fields that name the mail it answers: In-Reply-To, References and
 * Thread-Index, with their folded lines. Its body stays as it is.
 */
export function withoutThreadFields(raw: Buffer): Buffer {
  const text = raw.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length;
  const fields = `${text.slice(0, end)}\n`.replace(
    /^(?:in-reply-to|references|thread-index|thread-topic)[ \t]*:.*\r?\n(?:[ \t].*\r?\n)*/gim,
    '',
  );
  return Buffer.from(fields.slice(0, -1) + text.slice(end), 'latin1');
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

function hasHeader(content: Buffer): boolean {
  return /^(?:from|date|message-id|received|return-path):/im.test(
    content.toString('latin1', 0, 8192),
  );
}
