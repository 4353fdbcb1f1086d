import type { TemplateRecord, TemplateVersionRecord } from '@dak/contracts/api';
import type { Document } from '@dak/contracts/mail';
import { jsonBytes } from '@dak/platform/paging';
import type { TemplateContent } from './template-content';
import type { TemplateRow } from './template-store';

export function contentOfRow(row: TemplateRow): TemplateContent {
  return {
    name: row.name,
    alias: row.alias,
    subject: row.subject,
    bodyText: row.body_text,
    bodyHtml: row.body_html,
    variables: row.variables,
  };
}

export function renderTemplateRecord(row: TemplateRow): TemplateRecord {
  return {
    id: row.id,
    ...renderContent(row),
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function renderVersionRecord(row: TemplateRow): TemplateVersionRecord {
  return {
    template_id: row.id,
    version: row.version,
    ...renderContent(row),
    author: { type: row.author_type, id: row.author_id, name: row.author_name },
    created_at: row.version_created_at,
  };
}

export function templateDocument(row: TemplateRow): Document {
  const json = jsonBytes(renderTemplateRecord(row));
  return { id: row.id, version: row.version, json, replayed: false };
}

function renderContent(row: TemplateRow) {
  return {
    name: row.name,
    alias: row.alias,
    subject: row.subject,
    body_text: row.body_text,
    body_html: row.body_html,
    variables: row.variables,
  };
}
