import { NotFoundError, type Clock } from '@dak/kernel';
import type { TemplateServiceService } from '@dak/contracts/mail';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { jsonBytes } from '@dak/platform/paging';
import type { MailModels } from '../../db/models';
import { createTemplate } from './create-template';
import { listTemplates, listTemplateVersions } from './list-templates';
import { loadOwnTemplate, loadTemplate } from './load-template';
import { previewTemplate } from './preview-template';
import { renderVersionRecord, templateDocument } from './template-record';
import { selectVersions } from './template-store';
import { updateTemplate } from './update-template';

export function createTemplateHandlers(deps: {
  database: Database;
  models: MailModels;
  clock: Clock;
  cursorKey: Uint8Array;
}): Handlers<typeof TemplateServiceService, CallContext> {
  const { database } = deps;
  return {
    listTemplates: (request, context) => listTemplates(deps, request, context),
    createTemplate: (request, context) => createTemplate(deps, request, context),
    updateTemplate: (request, context) => updateTemplate(deps, request, context),
    previewTemplate: (request, context) => previewTemplate(deps, request, context),
    listTemplateVersions: (request, context) => listTemplateVersions(deps, request, context),
    getTemplate: ({ id }, { principal: { organizationId } }) =>
      database.inTenant(organizationId, async (tx) =>
        templateDocument(await loadTemplate(tx, organizationId, id)),
      ),
    getTemplateVersion: ({ id, version }, { principal: { organizationId } }) =>
      database.inTenant(organizationId, async (tx) => {
        await loadTemplate(tx, organizationId, id);
        const window = { before: version + 1, offset: 0, limit: 1 };
        const [row] = await selectVersions(tx, organizationId, id, window);
        if (row?.version !== version) throw new NotFoundError('version');
        // Not the ETag: that is the version of the template.
        return { id, version: 0, json: jsonBytes(renderVersionRecord(row)), replayed: false };
      }),
    async deleteTemplate({ id }, context) {
      const { organizationId } = context.principal;
      await deps.models.inTenant(organizationId, async (tx) => {
        await loadOwnTemplate(tx, context.principal, id);
        // Versions stay: mail names the one it was made of.
        await tx.db.template.update({
          where: { organizationId_id: { organizationId, id } },
          data: { deletedAt: new Date(deps.clock()) },
        });
        await noteAudit(tx, context, {
          action: 'template.deleted',
          target: { type: 'template', id },
        });
      });
      return {};
    },
  };
}
