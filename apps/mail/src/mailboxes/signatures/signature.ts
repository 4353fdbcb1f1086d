import { DomainError, InvalidError } from '@dak/kernel';
import type { SignatureRecord } from '@dak/contracts/api';
import { sanitizeHtml } from '@dak/formats/html';
import { storableText } from '../../db/sql-parameters';
import type { Signature } from '../../generated/prisma/client';

const MAX_NAME_LENGTH = 100;
const MAX_BODY_BYTES = 64 * 1024;

export function renderSignature(row: Signature): SignatureRecord {
  return {
    id: row.id,
    name: row.name,
    body_html: row.bodyHtml,
    body_text: row.bodyText,
    mailbox_id: row.mailboxId,
    is_default: row.isDefault,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** @throws InvalidError */
export function parseSignatureName(name: string): string {
  const text = storableText(name).trim();
  if (text === '' || text.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(text)) {
    throw new InvalidError(
      `name must be 1 to ${MAX_NAME_LENGTH} characters without line breaks or other control characters.`,
    );
  }
  return text;
}

/** @throws DomainError `too_large` */
export function parseSignatureText(text: string): string {
  return withinLimit(storableText(text), 'body_text');
}

/** Without scripts and the like: signatures are shown to colleagues as well. Images stay. @throws DomainError `too_large` */
export function parseSignatureHtml(html: string): string {
  return sanitizeHtml(withinLimit(storableText(html), 'body_html'), { remoteImages: 'on' });
}

function withinLimit(text: string, field: string): string {
  if (Buffer.byteLength(text) <= MAX_BODY_BYTES) return text;
  throw new DomainError(
    'too_large',
    'signature_too_large',
    `${field} must not be larger than ${MAX_BODY_BYTES} bytes. Link to large images instead of including them.`,
  );
}
