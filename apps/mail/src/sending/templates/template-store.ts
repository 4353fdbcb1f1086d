import type { Actor } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { MailTransaction } from '../../db/models';
import type { Prisma } from '../../generated/prisma/client';
import type { TemplateContent } from './template-content';
import type { TemplateVariable } from './template-variable';

/** A version with the template it is of; times are RFC 3339 UTC. */
export interface TemplateRow {
  id: string;
  version: number;
  name: string;
  alias: string | null;
  subject: string;
  body_text: string | null;
  body_html: string | null;
  variables: TemplateVariable[];
  author_type: string;
  author_id: string | null;
  author_name: string;
  /** The user who created it, also with an API key. */
  creator_id: string | null;
  created_at: string;
  updated_at: string;
  version_created_at: string;
}

/** For `from template t join template_version v …`. */
export const TEMPLATE_COLUMNS = `t.id, v.version, v.name, v.alias, v.subject, v.body_text, v.body_html, v.variables,
  v.author_type, v.author_id, v.author_name, t.created_at, t.updated_at, v.created_at as version_created_at,
  coalesce(t.creator_id::text,
           (select w.author_id from template_version w
             where w.organization_id = t.organization_id and w.template_id = t.id and w.version = 1)) as creator_id`;

const LIVE = `template t
  join template_version v on v.organization_id = t.organization_id and v.template_id = t.id`;

/** A version of a live template. @param options.version null: the newest */
export async function selectTemplate(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  options: { lock?: boolean; version?: number | null } = {},
): Promise<TemplateRow | null> {
  const { rows } = await tx.query<TemplateRow>(
    `select ${TEMPLATE_COLUMNS}
       from ${LIVE} and v.version = coalesce($3, t.version)
      where t.organization_id = $1 and t.id = $2 and t.deleted_at is null
      ${options.lock === true ? 'for update of t' : ''}`,
    [organizationId, id, options.version ?? null],
  );
  return rows[0] ?? null;
}

export async function selectTemplates(
  tx: SqlExecutor,
  organizationId: string,
  filter: { alias: string | null },
  window: { after: string | null; offset: number; limit: number },
): Promise<{ rows: TemplateRow[]; total: number }> {
  const [{ rows }, counted] = await Promise.all([
    tx.query<TemplateRow>(
      `select ${TEMPLATE_COLUMNS}
         from ${LIVE} and v.version = t.version
        where t.organization_id = $1 and t.deleted_at is null and ($2::text is null or t.alias = $2)
          and ($3::uuid is null or t.id > $3)
        order by t.id limit $4 offset $5`,
      [organizationId, filter.alias, window.after, window.limit, window.offset],
    ),
    countTemplates(tx, organizationId, filter.alias),
  ]);
  return { rows, total: counted };
}

export async function countTemplates(
  tx: SqlExecutor,
  organizationId: string,
  alias: string | null = null,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)
       from template t
      where t.organization_id = $1 and t.deleted_at is null and ($2::text is null or t.alias = $2)`,
    [organizationId, alias],
  );
  return rows[0]!.count;
}

/** Versions of a live template, newest first; the window counts down from `before`. */
export async function selectVersions(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  window: { before: number | null; offset: number; limit: number },
): Promise<TemplateRow[]> {
  const { rows } = await tx.query<TemplateRow>(
    `select ${TEMPLATE_COLUMNS}
       from ${LIVE}
      where t.organization_id = $1 and t.id = $2 and t.deleted_at is null
        and ($3::integer is null or v.version < $3)
      order by v.version desc limit $4 offset $5`,
    [organizationId, id, window.before, window.limit, window.offset],
  );
  return rows;
}

/** One creator per organization at a time, so that the limit holds. */
export async function lockTemplateCount(tx: SqlExecutor, organizationId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('templates ' || $1, 0))`, [
    organizationId,
  ]);
}

export async function insertTemplate(
  { db }: MailTransaction,
  organizationId: string,
  { id, creatorId, version }: { id: string; creatorId: string; version: NewVersion },
): Promise<void> {
  const { alias } = version.content;
  const times = { createdAt: version.at, updatedAt: version.at };
  await db.template.create({
    data: {
      organizationId,
      id,
      alias,
      creatorId,
      ...times,
      versions: { create: columns(version) },
    },
  });
}

/** @param version the newest from now on */
export async function insertVersion(
  { db }: MailTransaction,
  organizationId: string,
  id: string,
  version: NewVersion,
): Promise<void> {
  await db.template.update({
    where: { organizationId_id: { organizationId, id } },
    data: {
      alias: version.content.alias,
      version: version.number,
      updatedAt: version.at,
      versions: { create: columns(version) },
    },
  });
}

interface NewVersion {
  number: number;
  content: TemplateContent;
  author: Actor;
  at: Date;
}

function columns({ number, content, author, at }: NewVersion) {
  return {
    ...content,
    version: number,
    variables: content.variables.map((variable) => ({ ...variable })),
    authorType: author.type,
    authorId: author.id,
    authorName: author.name,
    createdAt: at,
  } satisfies Prisma.TemplateVersionCreateWithoutTemplateInput;
}
