import { join } from 'node:path';
import type { DatabaseName } from '@dak/platform/deployment';

const ROOT = join(__dirname, '../../../..');

/** The migrations of a database of the product. */
export function migrationsFolderOf(name: DatabaseName): string {
  return join(
    ROOT,
    name === 'log' ? 'libs/platform/log/migrations' : `apps/${name}/prisma/migrations`,
  );
}
