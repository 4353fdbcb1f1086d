export { parseAddressList } from './addresses';
export { decodePart } from './body-selection';
export { decodeCharset, guessText } from './charsets';
export { parseDate } from './dates';
export { decodeEncodedWords, decodeHeaderText } from './encoded-words';
export { safeFilename } from './filenames';
export { getHeader, getHeaders } from './header-fields';
export { encodeHeaderText, foldHeader, formatAddress } from './header-writing';
export { parseMessageIds } from './message-ids';
export type { ParseLimits } from './mime-tree';
export { parseParameterizedValue, type ParameterizedValue } from './parameters';
export { PARSE_LIMITS, parseMessage } from './parse-message';
export type {
  Address,
  Attachment,
  HeaderField,
  ParseDefect,
  ParsedMessage,
  Part,
} from './parsed-message';
export { baseSubject, type BaseSubject } from './subjects';
export { decodeTransferEncoding } from './transfer-encoding';
