import { PreviewTemplate, type TemplatePreviewRecord } from '@dak/contracts/api';
import type { Document, PreviewTemplateRequest } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { htmlToPlainText } from '@dak/formats/html';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { jsonBytes } from '@dak/platform/paging';
import { loadTemplate } from './load-template';
import { renderTemplate } from './render-template';
import { contentOfRow } from './template-record';
import { resolveVariables } from './template-variable';

/** Previews a mail; required variables without a value are listed and left empty. */
export async function previewTemplate(
  { database }: { database: Database },
  request: PreviewTemplateRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Document> {
  const { variables } = parseRequest(PreviewTemplate, requestOf(request));
  const row = await database.inTenant(organizationId, (tx) =>
    loadTemplate(tx, organizationId, request.id),
  );
  const { values, missing } = resolveVariables(row.variables, variables, 'variables');
  const { subject, bodyText, bodyHtml } = renderTemplate(contentOfRow(row), values);
  const preview: TemplatePreviewRecord = {
    subject,
    body_text: bodyText ?? htmlToPlainText(bodyHtml ?? ''),
    body_html: bodyHtml,
    missing,
  };
  return { id: row.id, version: row.version, json: jsonBytes(preview), replayed: false };
}
