import sanitize from 'sanitize-html';

import { MAX_HTML_LENGTH } from './html-to-text';
import { safeInlineStyle } from './inline-style';
import { limitNesting } from './limit-nesting';

export interface SanitizeOptions {
  /**
   * The URL of an inline part by its Content-ID (without brackets); null when there is no such part, which drops the
   * image. Without this function `cid:` references stay, to be rewritten when the HTML is shown.
   */
  cid?: (contentId: string) => string | null;
  /**
   * `off`: remote images tell the sender that and where the mail was read, so their address moves to `data-remote-src`.
   * `on`: it moves back. Sanitized HTML can be switched by sanitizing it again.
   */
  remoteImages: 'off' | 'on';
}

const TAGS = [
  'a',
  'abbr',
  'address',
  'article',
  'aside',
  'b',
  'bdi',
  'bdo',
  'big',
  'blockquote',
  'br',
  'caption',
  'center',
  'cite',
  'code',
  'col',
  'colgroup',
  'dd',
  'del',
  'details',
  'dfn',
  'div',
  'dl',
  'dt',
  'em',
  'figcaption',
  'figure',
  'font',
  'footer',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hr',
  'i',
  'img',
  'ins',
  'kbd',
  'li',
  'main',
  'mark',
  'nav',
  'ol',
  'p',
  'pre',
  'q',
  's',
  'samp',
  'section',
  'small',
  'span',
  'strike',
  'strong',
  'sub',
  'summary',
  'sup',
  'table',
  'tbody',
  'td',
  'tfoot',
  'th',
  'thead',
  'time',
  'tr',
  'tt',
  'u',
  'ul',
  'var',
  'wbr',
];

/** Elements that go with everything inside them. */
const DROPPED_WITH_CONTENT = [
  'script',
  'style',
  'textarea',
  'option',
  'select',
  'noscript',
  'svg',
  'math',
  'iframe',
  'object',
  'embed',
  'applet',
  'template',
  'title',
  'xmp',
  'noembed',
  'noframes',
  'frameset',
  'audio',
  'video',
  'canvas',
  'plaintext',
];

const LENGTHS = ['width', 'height', 'align', 'valign', 'bgcolor'];

/** Deeper nesting is flattened; newsletters reach 60 levels, and browsers stop at 512. */
const NESTING_LIMIT = 200;

/** A newsletter has some thousands. An element costs up to 20 µs. */
const MAX_ELEMENTS = 32_000;

/** A signature's logo as data: is common, a whole photograph is an attachment in disguise. */
const MAX_DATA_URL = 256 * 1024;

const LINK = /^(?:https?:\/\/|mailto:|tel:)/i;
const DATA_IMAGE = /^data:image\/(?:png|gif|jpe?g|webp);base64,[A-Za-z0-9+/=\s]*$/i;

/**
 * HTML of a mail that is safe to show inside another page: an allowlist of elements, attributes and style properties;
 * no form, meta, base, SVG, MathML, frame, plug-in, script, style sheet, event handler, id, name or class (no
 * clobbering), no link but http(s), mailto and tel, and those open with `rel="noopener noreferrer nofollow"`.
 * Applying it again changes nothing. Source beyond 1 MiB or
 * 32 000 elements is left out. Never throws.
 */
export function sanitizeHtml(html: string, options: SanitizeOptions): string {
  const bounded = limitNesting(html.slice(0, MAX_HTML_LENGTH), {
    maxDepth: NESTING_LIMIT,
    maxElements: MAX_ELEMENTS,
  });
  return sanitize(bounded, settingsOf(options));
}

function settingsOf(options: SanitizeOptions): sanitize.IOptions {
  return {
    allowedTags: TAGS,
    nonTextTags: DROPPED_WITH_CONTENT,
    disallowedTagsMode: 'discard',
    parseStyleAttributes: false,
    allowProtocolRelative: false,
    enforceHtmlBoundary: false,
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowedSchemesByTag: { img: ['http', 'https', 'cid', 'data'] },
    allowedSchemesAppliedToAttributes: ['href', 'src', 'cite', 'data-remote-src'],
    allowedAttributes: {
      '*': ['style', 'dir', 'lang', 'title', 'align'],
      a: ['href', 'rel', 'target'],
      img: ['src', 'alt', 'width', 'height', 'border', 'data-remote-src'],
      table: ['border', 'cellpadding', 'cellspacing', ...LENGTHS],
      td: ['colspan', 'rowspan', 'nowrap', ...LENGTHS],
      th: ['colspan', 'rowspan', 'nowrap', 'scope', ...LENGTHS],
      tr: LENGTHS,
      tbody: LENGTHS,
      thead: LENGTHS,
      col: ['span', ...LENGTHS],
      colgroup: ['span', ...LENGTHS],
      font: ['color', 'face', 'size'],
      ol: ['start', 'type', 'reversed'],
      ul: ['type'],
      li: ['value'],
      time: ['datetime'],
      blockquote: ['type'],
      hr: ['size', 'width', 'noshade', 'color'],
      details: ['open'],
    },
    transformTags: {
      '*': (tagName, attribs) => ({ tagName, attribs: withSafeStyle(attribs) }),
      a: (tagName, attribs) => ({ tagName, attribs: linkAttributes(attribs) }),
      img: (tagName, attribs) => ({ tagName, attribs: imageAttributes(attribs, options) }),
    },
  };
}

type Attributes = Record<string, string>;

function withSafeStyle(attributes: Attributes): Attributes {
  const { style, ...rest } = attributes;
  if (style === undefined) return attributes;
  const safe = safeInlineStyle(style);
  return safe === '' ? rest : { ...rest, style: safe };
}

function linkAttributes(attributes: Attributes): Attributes {
  const { href, ...rest } = withSafeStyle(attributes);
  delete rest.rel;
  delete rest.target;
  const target = href === undefined ? null : withoutControls(href);
  // Relative links have no base in a mail.
  if (target === null || !LINK.test(target)) return rest;
  return { ...rest, href: target, rel: 'noopener noreferrer nofollow', target: '_blank' };
}

function imageAttributes(attributes: Attributes, options: SanitizeOptions): Attributes {
  const { src: declared, 'data-remote-src': hidden, ...rest } = withSafeStyle(attributes);
  const src = withoutControls(declared ?? '');
  const contentId = /^cid:(.{1,998})$/i.exec(src)?.[1];
  if (contentId !== undefined) {
    if (!options.cid) return { ...rest, src: `cid:${contentId}` };
    const url = options.cid(decodeContentId(contentId));
    return url === null ? rest : { ...rest, src: url };
  }
  if (src.length <= MAX_DATA_URL && DATA_IMAGE.test(src)) return { ...rest, src };
  const remote = [src, withoutControls(hidden ?? '')].find((url) => /^https?:\/\//i.test(url));
  if (remote === undefined) return rest;
  return options.remoteImages === 'on'
    ? { ...rest, src: remote }
    : { ...rest, 'data-remote-src': remote };
}

/** Browsers ignore tabs, line ends and leading control characters in URLs: "java\tscript:" is a script. */
function withoutControls(url: string): string {
  return url
    .replace(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029]+/g, (run) => (/^ +$/.test(run) ? '%20' : ''))
    .replace(/^(?:%20)+|(?:%20)+$/g, '');
}

function decodeContentId(contentId: string): string {
  try {
    return decodeURIComponent(contentId);
  } catch {
    return contentId;
  }
}
