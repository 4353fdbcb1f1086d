import type { ImportRecord } from '@dak/contracts/api';
import type { Document } from '@dak/contracts/mail';
import type { ImportRow } from './import-store';

export function renderImport(row: ImportRow): ImportRecord {
  return {
    id: row.id,
    mailbox_id: row.mailbox_id,
    status: row.status,
    received: row.received,
    stored: row.stored,
    duplicates: row.duplicates,
    failed: row.failed,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function importDocument(row: ImportRow): Document {
  return {
    id: row.id,
    version: 1,
    json: Buffer.from(JSON.stringify(renderImport(row))),
    replayed: false,
  };
}
