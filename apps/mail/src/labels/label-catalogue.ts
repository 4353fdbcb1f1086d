import type { LabelRecord } from '@dak/contracts/api';
import type {
  CreateLabelRequest,
  DeleteLabelRequest,
  Document,
  Empty,
  ListLabelsRequest,
  Page,
  UpdateLabelRequest,
} from '@dak/contracts/mail';
import { ConflictError, InvalidError, NotFoundError, isUuid, uuidv7 } from '@dak/kernel';
import { noteAudit, type AuditNote } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import { actorOf } from '../actor';
import type { Label, Prisma } from '../generated/prisma/client';
import type { LabelDeps } from './label-deps';
import { labelName } from './label-name';
import { replaceLabel } from './replace-label';

const COLOR = /^#[0-9a-f]{6}$/i;
const MAX_DESCRIPTION = 500;

/** The labels that the organization has agreed on, by name. */
export async function listLabels(
  { withTenant, cursorKey }: LabelDeps,
  request: ListLabelsRequest,
  { principal: { organizationId } }: CallContext,
): Promise<Page> {
  const scope = { organizationId, list: 'labels', filter: {} };
  const window = pageWindow(cursorKey, scope, request.page);
  const after: Prisma.LabelWhereInput =
    window.after === null ? {} : { name: { gt: String(window.after[0]) } };
  const { rows, total } = await withTenant(organizationId, async ({ db }) => ({
    total: await db.label.count({ where: { organizationId } }),
    rows: await db.label.findMany({
      where: { organizationId, ...after },
      orderBy: { name: 'asc' },
      skip: window.offset,
      take: window.perPage + 1,
    }),
  }));
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(labelRecord)),
    (row) => [row.name],
  );
}

/** @throws ConflictError `label_exists` */
export function createLabel(
  { withTenant, clock }: LabelDeps,
  request: CreateLabelRequest,
  context: CallContext,
): Promise<Document> {
  const { organizationId } = context.principal;
  const data = {
    organizationId,
    id: uuidv7(),
    name: labelName('name', request.name),
    color: color(request.color),
    description: description(request.description),
    createdAt: new Date(clock()),
    updatedAt: new Date(clock()),
  };
  return unlessTaken(
    withTenant(organizationId, (tx) =>
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
  if (!isUuid(request.id)) throw new NotFoundError('label');
  const fields = new Set(request.fields);
  const data: Prisma.LabelUpdateInput = { updatedAt: new Date(deps.clock()) };
  if (fields.has('name')) data.name = labelName('name', request.name ?? '');
  if (fields.has('color')) data.color = color(request.color);
  if (fields.has('description')) data.description = description(request.description);
  const key = { organizationId_id: { organizationId, id: request.id } };
  const { before, after } = await unlessTaken(
    deps.withTenant(organizationId, async (tx) => {
      const found = await tx.db.label.findUnique({ where: key });
      if (found === null) throw new NotFoundError('label');
      const updated = await tx.db.label.update({ where: key, data });
      await noteAudit(tx, context, labelNote('label.updated', updated, found.name));
      return { before: found, after: updated };
    }),
  );
  if (before.name !== after.name) {
    await replaceLabel(deps, organizationId, before.name, after.name, actorOf(principal));
  }
  return labelDocument(after);
}

/** Takes it from the conversations too. */
export async function deleteLabel(
  deps: LabelDeps,
  request: DeleteLabelRequest,
  context: CallContext,
): Promise<Empty> {
  const { principal } = context;
  const { organizationId } = principal;
  if (!isUuid(request.id)) throw new NotFoundError('label');
  const name = await deps.withTenant(organizationId, async (tx) => {
    const { db } = tx;
    const found = await db.label.findFirst({ where: { organizationId, id: request.id } });
    if (found === null) throw new NotFoundError('label');
    await db.label.deleteMany({ where: { organizationId, id: request.id } });
    await noteAudit(tx, context, labelNote('label.deleted', found));
    return found.name;
  });
  await replaceLabel(deps, organizationId, name, null, actorOf(principal));
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

function color(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!COLOR.test(text)) throw new InvalidError('color must look like #1a2b3c.');
  return text.toLowerCase();
}

function description(text: string | undefined): string | null {
  if (text !== undefined && text.length > MAX_DESCRIPTION) {
    throw new InvalidError(`description must have at most ${MAX_DESCRIPTION} characters.`);
  }
  return text ?? null;
}

/** Prisma's code for a unique constraint is P2002. */
async function unlessTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'P2002') {
      throw new ConflictError('name is taken by another label.', 'label_exists');
    }
    throw error;
  }
}
