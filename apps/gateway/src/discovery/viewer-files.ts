import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export const VIEWER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const;
export type ViewerFile = (typeof VIEWER_FILES)[number];

export const VIEWER_TYPES: Readonly<Record<ViewerFile, string>> = {
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
};

/** Where the build puts the files, beside the bundles. */
const BUILT = join(__dirname, '../docs-viewer');

export function viewerPath(file: ViewerFile): string {
  return `/docs/${file}`;
}

/** The files of Swagger UI as they are sent, each read and packed once: 1.9 MB as they are, 0.5 MB packed. */
export class ViewerFiles {
  private readonly packed = new Map<ViewerFile, Promise<Buffer>>();

  read(file: ViewerFile): Promise<Buffer> {
    return readFile(join(viewerFolder(), file));
  }

  readPacked(file: ViewerFile): Promise<Buffer> {
    const present = this.packed.get(file);
    if (present !== undefined) return present;
    const packed = this.read(file).then(promisify(gzip));
    this.packed.set(file, packed);
    packed.catch(() => this.packed.delete(file));
    return packed;
  }
}

function viewerFolder(): string {
  return existsSync(BUILT) ? BUILT : dirname(require.resolve('swagger-ui-dist/package.json'));
}
