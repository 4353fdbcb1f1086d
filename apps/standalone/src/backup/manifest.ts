import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { InvalidError } from '@dak/kernel';
import { DATABASES } from '@dak/platform/deployment';

/** Version of the backup's layout. */
const FORMAT = 1;
export const MANIFEST = 'manifest.json';
/** As `sha256sum --check` reads it. */
const MANIFEST_SUM = 'manifest.json.sha256';
export const SECRETS = 'data/secrets.json';
/** Lines as of the journal of deliveries: what left between the moment and the end of the backup. */
export const SENT_SINCE = 'data/sent-since.jsonl';
/** Lines `<organization>/<aa>/<sha256> <octets>`. */
export const BLOB_LIST = 'blobs.list';

const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().min(0);

const file = z.strictObject({
  /** Below the backup's folder. */
  path: z
    .string()
    .regex(
      /^(blobs\.list|databases\/[a-z]+\/[a-z0-9_]+\.copy|data\/(secrets\.json|sent-since\.jsonl|journal(-\d+)?\/(deliveries\.journal|process\.name)))$/,
    ),
  bytes: count,
  sha256,
});

const table = z.strictObject({ name, columns: z.array(name), rows: count, file: file.shape.path });

const partition = z.strictObject({
  table: name,
  name,
  bound: z.string().regex(/^FOR VALUES FROM \('[^']*'\) TO \('[^']*'\)$/),
});

const sequence = z.strictObject({ name, last_value: z.string().regex(/^\d+$/) });

const database = z.strictObject({
  migrations: z.array(
    z.strictObject({ name: z.string().regex(/^[0-9]{14}_[a-z0-9_]+$/), checksum: sha256 }),
  ),
  tables: z.array(table),
  partitions: z.array(partition),
  sequences: z.array(sequence),
});

const manifest = z.strictObject({
  format: z.literal(FORMAT),
  dak_version: z.string(),
  postgres_version: z.string(),
  /** Everything that was acknowledged before is in the backup. */
  moment: z.iso.datetime({ offset: true }),
  databases: z.strictObject(
    Object.fromEntries(DATABASES.map((one) => [one, database])) as Record<
      (typeof DATABASES)[number],
      typeof database
    >,
  ),
  files: z.array(file),
  blobs: z.strictObject({ count, bytes: count }),
});

export type Manifest = z.infer<typeof manifest>;
export type BackupFile = z.infer<typeof file>;
export type DatabaseContent = z.infer<typeof database>;

/** Makes the backup whole: what has no manifest is none. */
export function writeManifest(folder: string, content: Omit<Manifest, 'format'>): void {
  const text = `${JSON.stringify({ format: FORMAT, ...content }, null, 1)}\n`;
  const sum = createHash('sha256').update(text).digest('hex');
  const options = { mode: 0o600, flush: true };
  writeFileSync(join(folder, MANIFEST_SUM), `${sum}  ${MANIFEST}\n`, options);
  writeFileSync(join(folder, MANIFEST), text, options);
}

/** @throws InvalidError with one sentence when the folder holds no whole backup that this version reads */
export function readManifest(folder: string): Manifest {
  const text = readText(join(folder, MANIFEST));
  const sum = readText(join(folder, MANIFEST_SUM));
  if (text === null || sum === null) {
    throw new InvalidError(
      `${folder} holds no backup that was completed: it has no ${text === null ? MANIFEST : MANIFEST_SUM}.`,
      'no_backup',
    );
  }
  if (sum.slice(0, 64) !== createHash('sha256').update(text).digest('hex')) throw damaged(MANIFEST);
  const content: unknown = JSON.parse(text);
  const format = (content as { format?: unknown }).format;
  if (format !== FORMAT) {
    throw new InvalidError(
      `The backup in ${folder} has the format ${String(format)} and this version of Dak reads ${FORMAT}: restore it with the version that made it.`,
      'backup_of_another_version',
    );
  }
  const parsed = manifest.safeParse(content);
  if (!parsed.success) throw damaged(MANIFEST);
  return parsed.data;
}

export function damaged(path: string): InvalidError {
  return new InvalidError(
    `The backup is damaged: ${path} is not as it was written. Take another backup; nothing was changed.`,
    'backup_damaged',
  );
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
