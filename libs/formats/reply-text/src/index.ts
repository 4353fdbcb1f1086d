export { extractReply, type ExtractedReply } from './extract-reply';
export { type ExtractionMethod } from './new-lines';
export { newHtmlOfReply, type ReplyHtml } from './reply-html';
export { newTextOfReply, type ReplyText } from './reply-text';
