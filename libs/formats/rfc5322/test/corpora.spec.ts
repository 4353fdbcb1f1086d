import { createHash } from 'node:crypto';
import { parseMessage, type Address, type ParsedMessage } from '../src';
import {
  readCorpusMessage,
  readHeadlines,
  readMimeTruth,
  withLineEnds,
  type TrueFacts,
} from './corpus';

describe('the part trees of the MIME corpus', () => {
  it.each(Object.entries(readMimeTruth()))('%s has the leaves of the truth', (name, { parts }) => {
    const { leaves } = parseMessage(readCorpusMessage('mime', name));
    // The truth has no part for a boundary that never comes; here the text is kept as one leaf.
    if (name === 'mimetools-testmsgs/badbound.msg') {
      expect(leaves.map((leaf) => leaf.contentType)).toEqual(['text/plain']);
      return;
    }
    expect(
      leaves.map((leaf) => ({
        path: leaf.path,
        content_type: leaf.contentType,
        encoding: leaf.encoding,
        size: leaf.content.length,
        sha256: createHash('sha256').update(leaf.content).digest('hex'),
      })),
    ).toEqual(
      parts.map(({ path, content_type, encoding, size, sha256 }) => ({
        path,
        content_type,
        encoding,
        size,
        sha256,
      })),
    );
  });
});

/**
 * Where the reading here differs from the truth, and why: the truth lets an inner multipart run over
 * the boundaries of the outer one (against RFC 2046 §5.1.2), hides a text that the file ends in, or
 * keeps the folder of a file name.
 */
const OWN_READINGS: Record<string, Partial<TrueFacts>> = {
  'malformed/001.eml': { text: '--a\n\n' },
  'malformed/003.eml': { text: 'body\n' },
  'malformed/006.eml': { text: 'body\n' },
  'rfc/001.eml': { attachment_names: ['BodyFormats.ps', 'RFC-MIME.ps'] },
  'thirdparty/015.eml': {
    attachment_names: ['office-reply.txt', 'shop-mail.txt', 'training-mail.txt'],
  },
};

describe.each(['\n', '\r\n'] as const)('the odd messages with line end %j', (lineEnd) => {
  it.each(Object.entries(readHeadlines()))('%s tells the facts of the truth', (name, facts) => {
    const raw = withLineEnds(readCorpusMessage('parser-json', name), lineEnd);
    const { from, to, cc, subject, date, message_id, references, attachment_names, text, html } =
      facts;
    expect(factsOf(parseMessage(raw))).toEqual({
      ...{ from, to, cc, subject, date, message_id, references, attachment_names, text, html },
      ...OWN_READINGS[name],
    });
  });
});

function factsOf(message: ParsedMessage): TrueFacts {
  return {
    from: pairs(message.from),
    to: pairs(message.to),
    cc: pairs(message.cc),
    subject: message.subject,
    date: message.date,
    message_id: message.messageId,
    references: message.references,
    attachment_names: message.attachments.flatMap(({ filename }) => filename ?? []).sort(),
    text: message.text,
    html: message.html,
  };
}

function pairs(addresses: Address[]): [string, string][] | null {
  if (addresses.some(({ address }) => address === '')) return null;
  return addresses.map(({ name, address }) => [address.toLowerCase(), name]);
}
