import { decodeCharset } from './charsets';
import { withLfLineEnds } from './line-ends';
import type { Attachment, ParseDefect, Part } from './parsed-message';

export interface SelectedBodies {
  text: string | null;
  html: string | null;
  attachments: Attachment[];
}

interface Lists {
  text: Part[];
  html: Part[];
}

/**
 * What a reader of the message sees (RFC 8621 §4.1.4): the first plain text and the first HTML part
 * of the two body lists. Every other leaf is listed as an attachment, also text parts after the
 * first and inline media, so that nothing of a message is out of reach; an embedded message is one.
 */
export function selectBodies(root: Part, defects: Set<ParseDefect>): SelectedBodies {
  const lists: Lists = { text: [], html: [] };
  collect([root], 'mixed', { inAlternative: false, lists, wantsText: true, wantsHtml: true });
  const textPart = lists.text.find((part) => part.contentType === 'text/plain');
  const htmlPart = lists.html.find((part) => part.contentType === 'text/html');
  const text = textPart ? decodePart(textPart, defects) : '';
  const html = htmlPart ? decodePart(htmlPart, defects) : '';
  const attachments: Attachment[] = [];
  collectAttachments(root, (part) => part === textPart || part === htmlPart, attachments);
  return { text: text === '' ? null : text, html: html === '' ? null : html, attachments };
}

/** The content of a text leaf as Unicode with LF line ends, whatever its charset. */
export function decodePart(part: Part, defects?: Set<ParseDefect>): string {
  const { text, known } = decodeCharset(part.content, part.charset);
  if (!known) defects?.add('unknown_charset');
  return withLfLineEnds(text);
}

interface Walk {
  inAlternative: boolean;
  lists: Lists;
  /** False once an alternative has settled on the other form. */
  wantsText: boolean;
  wantsHtml: boolean;
}

function collect(parts: readonly Part[], subtype: string, walk: Walk): void {
  const { lists } = walk;
  const textBefore = lists.text.length;
  const htmlBefore = lists.html.length;
  let { wantsText, wantsHtml } = walk;
  for (const [index, part] of parts.entries()) {
    if (part.contentType.startsWith('multipart/')) {
      const inner = part.contentType.slice('multipart/'.length);
      const inAlternative = walk.inAlternative || inner === 'alternative';
      collect(part.children, inner, { inAlternative, lists, wantsText, wantsHtml });
    } else if (isInline(part, index, subtype)) {
      if (subtype === 'alternative') {
        if (part.contentType === 'text/plain' && wantsText) lists.text.push(part);
        if (part.contentType === 'text/html' && wantsHtml) lists.html.push(part);
        continue;
      }
      if (walk.inAlternative) {
        if (part.contentType === 'text/plain') wantsHtml = false;
        if (part.contentType === 'text/html') wantsText = false;
      }
      if (wantsText) lists.text.push(part);
      if (wantsHtml) lists.html.push(part);
    }
  }
  if (subtype !== 'alternative' || !walk.wantsText || !walk.wantsHtml) return;
  const onlyHtml = lists.text.length === textBefore;
  const onlyText = lists.html.length === htmlBefore;
  if (onlyHtml && !onlyText) lists.text.push(...lists.html.slice(htmlBefore));
  if (onlyText && !onlyHtml) lists.html.push(...lists.text.slice(textBefore));
}

function isInline(part: Part, index: number, parentSubtype: string): boolean {
  const media = /^(?:image|audio|video)\//.test(part.contentType);
  if (part.disposition === 'attachment') return false;
  if (!media && part.contentType !== 'text/plain' && part.contentType !== 'text/html') return false;
  return index === 0 || (parentSubtype !== 'related' && (media || part.filename === null));
}

function collectAttachments(
  part: Part,
  isBody: (part: Part) => boolean,
  attachments: Attachment[],
): void {
  if (part.contentType.startsWith('multipart/')) {
    for (const child of part.children) collectAttachments(child, isBody, attachments);
    return;
  }
  if (isBody(part)) return;
  attachments.push({
    filename: part.filename,
    contentType: part.contentType,
    disposition: part.disposition ?? (isShownInline(part) ? 'inline' : 'attachment'),
    contentId: part.contentId,
    content: part.embedded ?? part.content,
    path: part.path,
  });
}

/** Undeclared: an image that the HTML can refer to, or one more text of the message. */
function isShownInline(part: Part): boolean {
  if (part.contentType.startsWith('image/')) return part.contentId !== null;
  return part.contentType.startsWith('text/') && part.filename === null;
}
