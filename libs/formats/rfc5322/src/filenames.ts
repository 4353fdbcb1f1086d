/** Long enough for any real name, short enough for every file system (255 bytes). */
const MAX_LENGTH = 180;

/**
 * The visible part of a declared file name: without folders (both separators), control and bidi
 * override characters, and never "." or ".."; null when nothing is left. It is safe as the last
 * component of a path on every system.
 */
export function safeFilename(declared: string): string | null {
  const name = declared
    // Bidi controls make "exe.pdf" out of "fdp.exe".
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g, ' ')
    .replace(/^.*[/\\]/s, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (/^\.*$/.test(name)) return null;
  return shorten(name);
}

function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_LENGTH) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  return characters.slice(0, MAX_LENGTH - extension.length).join('') + extension;
}
