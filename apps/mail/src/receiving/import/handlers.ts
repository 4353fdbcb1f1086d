import type { Document, ImportRequest, ImportServiceService } from '@dak/contracts/mail';
import { InvalidError, NotFoundError, isUuid, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { requireRoom } from '../../mailboxes/organizations/storage-quota';
import { requireMailbox } from '../../mailboxes/visibility-store';
import { importItems, importType, type ImportType } from './import-items';
import { insertImport, selectImport, type ImportRow } from './import-store';
import { receiveImport, type ReceiveImportDeps } from './receive-import';
import { importDocument } from './render-import';

export interface ImportHandlersDeps extends ReceiveImportDeps {
  /** Where a zip lies while it is read. */
  readonly temporaryFolder: string;
}

export function createImportHandlers(
  deps: ImportHandlersDeps,
): Handlers<typeof ImportServiceService, CallContext> {
  return {
    import: (requests, context) => importMail(deps, requests, context),
    getImport: ({ id }, context) => getImport(deps, id, context),
  };
}

async function importMail(
  deps: ImportHandlersDeps,
  requests: AsyncIterable<ImportRequest>,
  context: CallContext,
): Promise<Document> {
  const parts = requests[Symbol.asyncIterator]();
  const first = await parts.next();
  if (first.done === true || first.value.part?.$case !== 'description') {
    throw new InvalidError('The first message of an import must be its description.');
  }
  const { mailboxId, contentType } = first.value.part.value;
  const type = importType(contentType);
  await requireRoom(deps.database, context.principal.organizationId, 0);
  const job = await openJob(deps, context, mailboxId, type);
  if (job.answer.replayed) {
    await drain(parts);
    return job.answer;
  }
  const target = {
    importId: job.answer.id,
    organizationId: context.principal.organizationId,
    mailboxId,
    mailboxAddress: job.mailboxAddress,
  };
  await receiveImport(deps, target, importItems(type, contents(parts), deps.temporaryFolder));
  return importDocument(await requireImport(deps, job.answer.id, context));
}

async function openJob(
  deps: ImportHandlersDeps,
  context: CallContext,
  mailboxId: string,
  contentType: ImportType,
): Promise<{ answer: Document; mailboxAddress: string }> {
  const { organizationId, userId } = context.principal;
  return deps.database.inTenant(organizationId, async (tx) => {
    const mailbox = await requireMailbox(tx, context.principal, mailboxId, 'write');
    const answer = await idempotent(tx, context, async () => {
      const id = uuidv7();
      await insertImport(tx, organizationId, { id, mailboxId, contentType, createdBy: userId });
      await noteAudit(tx, context, {
        action: 'import.started',
        target: { type: 'import', id },
        details: { mailbox_id: mailboxId, content_type: contentType },
      });
      return importDocument((await selectImport(tx, organizationId, id))!);
    });
    return { answer, mailboxAddress: mailbox.address };
  });
}

async function getImport(
  deps: ImportHandlersDeps,
  id: string,
  context: CallContext,
): Promise<Document> {
  return importDocument(await requireImport(deps, id, context));
}

async function requireImport(
  { database }: ImportHandlersDeps,
  id: string,
  { principal }: CallContext,
): Promise<ImportRow> {
  if (!isUuid(id)) throw new NotFoundError('import');
  return database.inTenant(principal.organizationId, async (tx) => {
    const row = await selectImport(tx, principal.organizationId, id);
    if (row === null) throw new NotFoundError('import');
    await requireMailbox(tx, principal, row.mailbox_id, 'read').catch((error: unknown) => {
      throw error instanceof NotFoundError ? new NotFoundError('import') : error;
    });
    return row;
  });
}

async function* contents(parts: AsyncIterator<ImportRequest>): AsyncGenerator<Uint8Array> {
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    if (next.value.part?.$case !== 'content') {
      throw new InvalidError('An import has one description, and only content after it.');
    }
    yield next.value.part.value;
  }
}

async function drain(parts: AsyncIterator<ImportRequest>): Promise<void> {
  while ((await parts.next()).done !== true);
}
