import { DomainError, InvalidError } from '@dak/kernel';
import { gathered, tarMessages, zipMessages } from './archive-messages';
import { NOT_MAIL_SENTENCE, TOO_LARGE, looksLikeMail, type ImportItem } from './import-item';
import { mboxMessages } from './mbox-messages';

/** Media types that an import takes. */
export const IMPORT_TYPES = [
  'message/rfc822',
  'application/mbox',
  'application/x-tar',
  'application/zip',
] as const;
export type ImportType = (typeof IMPORT_TYPES)[number];

const ALIASES: Record<string, ImportType> = {
  'application/tar': 'application/x-tar',
  'application/gzip': 'application/x-tar',
  'application/x-gzip': 'application/x-tar',
  'application/x-gtar': 'application/x-tar',
  'application/x-zip-compressed': 'application/zip',
};

/** @throws DomainError `unsupported_media` */
export function importType(contentType: string): ImportType {
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  const known = ALIASES[type] ?? IMPORT_TYPES.find((candidate) => candidate === type);
  if (known !== undefined) return known;
  throw new DomainError(
    'unsupported_media',
    'unsupported_media_type',
    `Content-Type must be one of ${IMPORT_TYPES.join(', ')}.`,
  );
}

/** The messages of a stream, one by one. @throws InvalidError when it is not what its type says */
export function importItems(
  type: ImportType,
  source: AsyncIterable<Uint8Array>,
  temporaryFolder: string,
): AsyncIterable<ImportItem> {
  switch (type) {
    case 'message/rfc822':
      return singleMessage(source);
    case 'application/mbox':
      return mboxMessages(source);
    case 'application/x-tar':
      return tarMessages(source);
    case 'application/zip':
      return zipMessages(source, temporaryFolder);
  }
}

async function* singleMessage(source: AsyncIterable<Uint8Array>): AsyncGenerator<ImportItem> {
  const raw = await gathered(source);
  if (raw === null) yield TOO_LARGE;
  else if (raw.length === 0) return;
  else if (!looksLikeMail(raw)) throw new InvalidError(NOT_MAIL_SENTENCE, 'not_a_message');
  else yield { raw, unread: true, arrivedAt: null, labels: [] };
}
