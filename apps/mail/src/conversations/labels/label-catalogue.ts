import { CreateLabel, UpdateLabel, type LabelRecord } from '@dak/contracts/api';
import type {
  CreateLabelRequest,
  DeleteLabelRequest,
  Document,
  Empty,
  ListLabelsRequest,
  Page,
  UpdateLabelRequest,
} from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import {
  actorOf,
  ConflictError,
  ForbiddenError,
  isUuid,
  NotFoundError,
  type Principal,
  seesWholeOrganization,
  uuidv7,
} from '@dak/kernel';
import { noteAudit, type AuditNote } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes, listPage } from '@dak/platform/paging';
import { isUniqueViolation } from '@dak/platform/postgres';
import type { Label, Prisma } from '../../generated/prisma/client';
import type { LabelDeps } from './label-deps';
import { requireMayRelease } from '../legal-hold';
import { replaceLabel } from './replace-label';

/** The labels that the organization has agreed on, by name. */
export function listLabels(
  { models, cursorKey }: LabelDeps,
  request: ListLabelsRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  return listPage(cursorKey, request.page, {
    scope: { organizationId, list: 'labels', filter: {} },
    select: ({ limit, offset, after }) =>
      models.inTenant(organizationId, async ({ db }) => ({
        total: await db.label.count({ where: { organizationId } }),
        rows: await db.label.findMany({
          where: { organizationId, ...(after && { name: { gt: String(after[0]) } }) },
          orderBy: { name: 'asc' },
          skip: offset,
          take: limit,
        }),
      })),
    recordOf: labelRecord,
    positionOf: ({ name }) => [name],
  });
}

/** @throws ConflictError `label_exists` */
export function createLabel(
  { models, clock }: LabelDeps,
  request: CreateLabelRequest,
  context: CallContext,
): Promise<Document> {
  const { organizationId } = context.principal;
  requireAdmin(context.principal);
  const { name, color = null, description = null } = parseRequest(CreateLabel, requestOf(request));
  const data = {
    organizationId,
    id: uuidv7(),
    name,
    color,
    description,
    createdAt: new Date(clock()),
    updatedAt: new Date(clock()),
  };
  return unlessTaken(
    models.inTenant(organizationId, (tx) =>
      idempotent(tx, context, async () => {
        const row = await tx.db.label.create({ data });
        await noteAudit(tx, context, labelNote('label.created', row));
        return labelDocument(row);
      }),
    ),
  );
}

/** A new name is also given to the conversations that have the old one. @throws ConflictError `label_exists` */
export async function updateLabel(
  deps: LabelDeps,
  request: UpdateLabelRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  requireAdmin(principal);
  if (!isUuid(request.id)) throw new NotFoundError('label');
  const { name, color, description } = parseRequest(
    UpdateLabel,
    requestOf(request, request.fields),
  );
  const data: Prisma.LabelUpdateInput = {
    updatedAt: new Date(deps.clock()),
    ...(name !== undefined && { name }),
    ...(color !== undefined && { color }),
    ...(description !== undefined && { description }),
  };
  const key = { organizationId_id: { organizationId, id: request.id } };
  const before = await deps.models.inTenant(organizationId, async ({ db }) => {
    const found = await db.label.findUnique({ where: key });
    if (found === null) throw new NotFoundError('label');
    if (name !== undefined && name !== found.name) {
      if ((await db.label.count({ where: { organizationId, name } })) > 0) throw labelTaken();
    }
    return found;
  });
  // The label itself comes last: as long as it has the old name, the request can be repeated.
  if (name !== undefined && name !== before.name) {
    requireMayRelease(principal, [before.name], [name]);
    await replaceLabel(deps, organizationId, before.name, name, actorOf(principal));
  }
  const after = await unlessTaken(
    deps.models.inTenant(organizationId, async (tx) => {
      const updated = await tx.db.label.update({ where: key, data });
      await noteAudit(tx, context, labelNote('label.updated', updated, before.name));
      return updated;
    }),
  );
  return labelDocument(after);
}

/** Removes it from the conversations first and from the catalogue last, so that an interrupted removal can be repeated. */
export async function deleteLabel(
  deps: LabelDeps,
  request: DeleteLabelRequest,
  context: CallContext,
): Promise<Empty> {
  const { principal } = context;
  const { organizationId } = principal;
  requireAdmin(principal);
  if (!isUuid(request.id)) throw new NotFoundError('label');
  const where = { organizationId, id: request.id };
  const label = await deps.models.inTenant(organizationId, ({ db }) =>
    db.label.findFirst({ where }),
  );
  if (label === null) throw new NotFoundError('label');
  requireMayRelease(principal, [label.name], []);
  await replaceLabel(deps, organizationId, label.name, null, actorOf(principal));
  await deps.models.inTenant(organizationId, async (tx) => {
    const { count } = await tx.db.label.deleteMany({ where });
    if (count > 0) await noteAudit(tx, context, labelNote('label.deleted', label));
  });
  return {};
}

function labelNote(action: string, { id, name }: Label, former?: string): AuditNote {
  const details = former === undefined || former === name ? { name } : { name, former };
  return { action, target: { type: 'label', id }, details };
}

function labelDocument(row: Label): Document {
  return { id: row.id, version: 0, json: jsonBytes(labelRecord(row)), replayed: false };
}

function labelRecord(row: Label): LabelRecord {
  return {
    id: row.id,
    name: row.name,
    color: row.color,
    description: row.description,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** Only admins change the organization's catalogue; callers with write access put labels on conversations. */
function requireAdmin(principal: Principal): void {
  if (seesWholeOrganization(principal)) return;
  throw new ForbiddenError(
    'The catalogue of labels is changed by admins: ask one of them.',
    'missing_role',
  );
}

function labelTaken(): ConflictError {
  return new ConflictError('name is taken by another label.', 'label_exists');
}

async function unlessTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isUniqueViolation(error) ? labelTaken() : error;
  }
}
