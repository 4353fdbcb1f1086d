import { TextDecoder } from 'node:util';
import { isUtf8 } from 'node:buffer';
import { decode as iconvDecode, encodingExists } from 'iconv-lite';

export interface DecodedText {
  text: string;
  /** False when the charset name is not known and UTF-8 or windows-1252 was assumed. */
  known: boolean;
}

/**
 * Labels that mail uses for "nothing special": the bytes are read as UTF-8 when they are valid
 * UTF-8, else as windows-1252, since senders label 8-bit text us-ascii far more often than they
 * mean it.
 */
const UNDECLARED = new Set([
  '',
  'us-ascii',
  'ascii',
  'ansi_x3.4-1968',
  'iso646-us',
  'iso_646.irv:1991',
  'unknown-8bit',
  'x-unknown',
  'unknown',
  'default',
  'default_charset',
  '7bit',
  '8bit',
  'binary',
]);

/** ISO 8859-1 is read as windows-1252: the C1 range is never meant in mail, the Windows letters are. */
const WINDOWS_1252 = new Set([
  'iso-8859-1',
  'iso8859-1',
  'iso_8859-1',
  'iso88591',
  'latin1',
  'latin-1',
  'l1',
  'cp819',
  'ibm819',
  'windows-1252',
  'windows1252',
  'cp1252',
  'cp-1252',
  'x-cp1252',
  'x-ansi',
  'ansi',
]);

/** Names seen in mail that neither decoder knows. */
const ALIASES = new Map([
  ['utf8', 'utf-8'],
  ['utf_8', 'utf-8'],
  ['utf-8n', 'utf-8'],
  ['utf-8mb4', 'utf-8'],
  ['utf8mb4', 'utf-8'],
  ['unicode-1-1-utf-8', 'utf-8'],
  ['cp932', 'shift_jis'],
  ['windows-932', 'shift_jis'],
  ['x-sjis-jp', 'shift_jis'],
  ['iso-2022-jp-1', 'iso-2022-jp'],
  ['iso-2022-jp-2', 'iso-2022-jp'],
  ['iso-2022-jp-3', 'iso-2022-jp'],
  ['cp50220', 'iso-2022-jp'],
  ['cp50221', 'iso-2022-jp'],
  ['x-euc-jp', 'euc-jp'],
  ['ks_c_5601-1987', 'euc-kr'],
  ['ks_c_5601', 'euc-kr'],
  ['ksc5601', 'euc-kr'],
  ['cp949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['gb2312', 'gb18030'],
  ['gb_2312-80', 'gb18030'],
  ['x-gbk', 'gb18030'],
  ['gbk', 'gb18030'],
  ['cp936', 'gb18030'],
  ['euc-cn', 'gb18030'],
  ['big5-hkscs', 'big5'],
  ['cp950', 'big5'],
  ['iso-8859-8-i', 'iso-8859-8'],
  ['iso-8859-8-e', 'iso-8859-8'],
  ['iso-8859-6-i', 'iso-8859-6'],
  ['x-mac-roman', 'macintosh'],
]);

/** What the WHATWG decoders do better than iconv-lite: multi-byte tables and ISO-2022-JP. */
const WHATWG = new Set([
  'shift_jis',
  'iso-2022-jp',
  'euc-jp',
  'euc-kr',
  'gb18030',
  'big5',
  'utf-16le',
  'utf-16be',
]);

const whatwgDecoders = new Map<string, InstanceType<typeof TextDecoder>>();

/**
 * Bytes of a text in a declared charset (any case, null or empty when none) as Unicode. Never
 * throws: malformed sequences become U+FFFD, unknown charsets are read as UTF-8 when the bytes are
 * valid UTF-8 and as windows-1252 otherwise. A byte order mark is dropped.
 */
export function decodeCharset(bytes: Uint8Array, charset: string | null): DecodedText {
  const buffer = asBuffer(bytes);
  const label = canonicalLabel(charset ?? '');
  if (label === 'utf-8') return { text: withoutBom(buffer.toString('utf8')), known: true };
  if (UNDECLARED.has(label)) return { text: guessText(buffer), known: true };
  if (WINDOWS_1252.has(label)) return { text: decodeWindows1252(buffer), known: true };
  if (WHATWG.has(label)) return { text: whatwgDecoder(label).decode(buffer), known: true };
  if (!isSafeLabel(label) || !encodingExists(label))
    return { text: guessText(buffer), known: false };
  try {
    return { text: withoutBom(iconvDecode(buffer, label)), known: true };
  } catch {
    return { text: guessText(buffer), known: false };
  }
}

/** UTF-8 when the bytes are valid UTF-8, else windows-1252: for text without a declared charset. */
export function guessText(bytes: Uint8Array): string {
  const buffer = asBuffer(bytes);
  return isUtf8(buffer) ? withoutBom(buffer.toString('utf8')) : decodeWindows1252(buffer);
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function canonicalLabel(charset: string): string {
  const label = charset.trim().toLowerCase();
  return ALIASES.get(label) ?? label;
}

/**
 * iconv-lite also "decodes" base64, hex and its own internals; those names are no charsets. UTF-7 is
 * not decoded: for twenty years it has been used only to hide markup, and a megabyte takes half a second.
 */
function isSafeLabel(label: string): boolean {
  return (
    label.length <= 40 &&
    !label.startsWith('_') &&
    !label.replace(/[^a-z0-9]/g, '').includes('utf7') &&
    label !== 'base64' &&
    label !== 'hex' &&
    label !== 'binary'
  );
}

function whatwgDecoder(label: string): InstanceType<typeof TextDecoder> {
  let decoder = whatwgDecoders.get(label);
  if (!decoder) {
    decoder = new TextDecoder(label);
    whatwgDecoders.set(label, decoder);
  }
  return decoder;
}

/** TextDecoder is not used here: some Node 24 releases decode windows-1252 as ISO 8859-1. */
function decodeWindows1252(buffer: Buffer): string {
  const latin1 = buffer.toString('latin1');
  return /[\x80-\x9f]/.test(latin1) ? iconvDecode(buffer, 'windows-1252') : latin1;
}

function withoutBom(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
