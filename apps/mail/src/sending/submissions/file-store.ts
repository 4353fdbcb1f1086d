import type { SqlExecutor } from '@dak/platform/postgres';
import type { FileReference } from './load-files';

export async function attachmentsOf(
  tx: SqlExecutor,
  organizationId: string,
  messageId: string,
): Promise<FileReference[]> {
  const { rows } = await tx.query<FileReference>(
    `select filename, content_type, size_bytes, sha256, disposition, content_id
       from attachment
      where organization_id = $1 and message_id = $2
      order by position`,
    [organizationId, messageId],
  );
  return rows;
}
