import { folderLabels } from './import-item';

/** How an import treats a file of a tar or zip. */
export type ArchiveEntry =
  | {
      readonly kind: 'message';
      readonly unread: boolean;
      readonly arrivedAt: Date | null;
      readonly labels: readonly string[];
    }
  | { readonly kind: 'mbox'; readonly labels: readonly string[] }
  /** Directories, indexes and other things that lie beside mail. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly reason: string };

const IGNORED: ArchiveEntry = { kind: 'ignored' };

/** Judges a file by its path alone; nothing is ever written under that path. */
export function archiveEntry(path: string): ArchiveEntry {
  const segments = path.replaceAll('\\', '/').split('/');
  if (path.includes('\0') || segments.includes('..')) {
    return { kind: 'refused', reason: 'The path of the file leads out of the archive.' };
  }
  const parts = segments.filter((segment) => segment !== '' && segment !== '.');
  const name = parts.pop();
  if (name === undefined || path.endsWith('/') || parts[0] === '__MACOSX') return IGNORED;

  const last = parts.at(-1);
  if (last === 'cur' || last === 'new') {
    return {
      kind: 'message',
      unread: last === 'new' || !maildirFlags(name).includes('S'),
      arrivedAt: maildirTime(name),
      labels: folderLabels(maildirFolder(parts.slice(0, -1))),
    };
  }
  if (name.startsWith('.')) return IGNORED;
  if (/\.(?:eml|mht)$/i.test(name)) {
    return { kind: 'message', unread: true, arrivedAt: null, labels: folderLabels(parts) };
  }
  if (/\.(?:mbox|mbx)$/i.test(name)) {
    return { kind: 'mbox', labels: folderLabels([...parts, name.replace(/\.[^.]*$/, '')]) };
  }
  return IGNORED;
}

/** `1204.M20P5Q.host:2,FS` → `FS`; some systems write `;` or `!` for the colon. */
function maildirFlags(name: string): string {
  return /[:;!]2,([A-Za-z]*)$/.exec(name)?.[1] ?? '';
}

/** Maildir names begin with the second of delivery. */
function maildirTime(name: string): Date | null {
  const seconds = /^(\d{9,10})\./.exec(name)?.[1];
  return seconds === undefined ? null : new Date(Number(seconds) * 1000);
}

/** Maildir++ keeps `Lists/Foo` as `.Lists.Foo` beside the inbox, which is the top folder itself. */
function maildirFolder(parents: readonly string[]): string[] {
  const folder = parents.at(-1);
  if (folder === undefined) return [];
  if (folder.startsWith('.')) return folder.slice(1).split('.');
  return parents.slice(1);
}
