export { type ExtractionMethod } from './new-lines';
export { newHtmlOfReply, type ReplyHtml } from './reply-html';
export { newTextOfReply, type ReplyText } from './reply-text';
export { stripSignature } from './signature';
