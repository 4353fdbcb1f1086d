import { actorOf, type Clock, VersionMismatchError } from '@dak/kernel';
import { TemplateContent, type Document, type UpdateTemplateRequest } from '@dak/contracts/mail';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import type { MailModels } from '../../db/models';
import { unlessAliasTaken } from './create-template';
import { loadOwnTemplate, loadTemplate } from './load-template';
import { changedTemplate, isSameContent } from './template-content';
import { contentOfRow, templateDocument } from './template-record';
import { insertVersion } from './template-store';

/**
 * Every change is a new version; a request that changes nothing makes none.
 * @throws VersionMismatchError, ConflictError `alias_taken`
 */
export function updateTemplate(
  deps: { models: MailModels; clock: Clock },
  request: UpdateTemplateRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const { id, expectedVersion, fields } = request;
  return unlessAliasTaken(
    deps.models.inTenant(organizationId, async (tx) => {
      const row = await loadOwnTemplate(tx, principal, id);
      if (expectedVersion !== undefined && expectedVersion !== row.version) {
        throw new VersionMismatchError('template', row.version);
      }
      const before = contentOfRow(row);
      const sent = request.content ?? TemplateContent.fromPartial({});
      const content = changedTemplate(before, fields, sent);
      if (isSameContent(before, content)) return templateDocument(row);
      const version = row.version + 1;
      await insertVersion(tx, organizationId, id, {
        number: version,
        content,
        author: actorOf(principal),
        at: new Date(deps.clock()),
      });
      await noteAudit(tx, context, {
        action: 'template.updated',
        target: { type: 'template', id },
        details: { name: content.name, version, fields },
      });
      return templateDocument(await loadTemplate(tx, organizationId, id));
    }),
  );
}
