import { actorOf, type Clock, ConflictError, RefusedError, uuidv7 } from '@dak/kernel';
import { TEMPLATE_LIMITS } from '@dak/contracts/api';
import { TemplateContent, type CreateTemplateRequest, type Document } from '@dak/contracts/mail';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { isUniqueViolation } from '@dak/platform/postgres';
import { idempotent } from '@dak/platform/idempotency';
import type { MailModels } from '../../db/models';
import { loadTemplate } from './load-template';
import { newTemplate } from './template-content';
import { templateDocument } from './template-record';
import { countTemplates, insertTemplate, lockTemplateCount } from './template-store';

/** @throws ConflictError `alias_taken`, RefusedError `template_limit` */
export function createTemplate(
  deps: { models: MailModels; clock: Clock },
  request: CreateTemplateRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const content = newTemplate(request.content ?? TemplateContent.fromPartial({}));
  return unlessAliasTaken(
    deps.models.inTenant(organizationId, (tx) =>
      idempotent(tx, context, async () => {
        await lockTemplateCount(tx, organizationId);
        if ((await countTemplates(tx, organizationId)) >= TEMPLATE_LIMITS.templates) {
          throw new RefusedError(
            `The organization has ${TEMPLATE_LIMITS.templates} templates, which is the limit. Delete one that is not used.`,
            'template_limit',
          );
        }
        const now = deps.clock();
        const id = uuidv7(now);
        const author = actorOf(principal);
        const version = { number: 1, content, author, at: new Date(now) };
        await insertTemplate(tx, organizationId, { id, creatorId: principal.userId, version });
        await noteAudit(tx, context, {
          action: 'template.created',
          target: { type: 'template', id },
          details: { name: content.name, version: 1 },
        });
        return templateDocument(await loadTemplate(tx, organizationId, id));
      }),
    ),
  );
}

/** @throws ConflictError `alias_taken` */
export async function unlessAliasTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ConflictError(
      'alias is taken by another template. Choose another one, or delete that template.',
      'alias_taken',
    );
  }
}
