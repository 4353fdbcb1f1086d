import type { Document } from '@dak/contracts/mail';
import { jsonBytes } from '@dak/platform/paging';
import { renderDomain } from './domain';
import type { DomainRow } from './domain-row';

export function domainDocument(row: DomainRow): Document {
  return { id: row.id, version: row.version, json: jsonBytes(renderDomain(row)), replayed: false };
}
