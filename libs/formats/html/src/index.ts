export { escapeHtml, textAsHtml } from './escape-html';
export { attributeValue, htmlTokens, VOID_ELEMENTS, type HtmlToken } from './html-tokens';
export { htmlToPlainText } from './html-to-plain-text';
export { htmlToText, MAX_HTML_LENGTH, type HtmlToTextOptions } from './html-to-text';
export { safeInlineStyle } from './inline-style';
export { sanitizeHtml, type SanitizeOptions } from './sanitize-html';
