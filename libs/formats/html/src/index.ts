export { attributeValue, htmlTokens, VOID_ELEMENTS, type HtmlToken } from './html-tokens';
export { htmlToText, MAX_HTML_LENGTH, type HtmlToTextOptions } from './html-to-text';
export { safeInlineStyle } from './inline-style';
export { sanitizeHtml, type SanitizeOptions } from './sanitize-html';
