/** One header field in order of appearance; `value` is unfolded, still encoded (RFC 2047 intact). */
export interface HeaderField {
  /** As written. */
  name: string;
  value: string;
}

/** An address as people see it: `name` decoded, empty when there is none; `address` without display name or comments, domain lower-cased. */
export interface Address {
  name: string;
  address: string;
}

/** A leaf or a multipart of the MIME tree. */
export interface Part {
  /** 1-based position, one number per level ("1", "2.1"); the message inside message/rfc822 is a level. A message that is one single part has path "1". */
  path: string;
  /** Lower-case `type/subtype`; text/plain (message/rfc822 in a digest) where none or an invalid one is declared. */
  contentType: string;
  /** Content-Type parameters, lower-case names, RFC 2231 decoded. */
  parameters: Map<string, string>;
  /** Declared charset in lower case, null when none. */
  charset: string | null;
  /** Declared Content-Transfer-Encoding in lower case, empty when absent. */
  encoding: string;
  disposition: 'attachment' | 'inline' | null;
  /** Decoded file name (RFC 2231, RFC 2047 and raw UTF-8 tolerated), without any folder; null when none. */
  filename: string | null;
  /** Without angle brackets. */
  contentId: string | null;
  headers: HeaderField[];
  /** Leaf: bytes after transfer decoding, before charset conversion. Empty for a multipart or message/rfc822 container. */
  content: Uint8Array;
  /** Children of a multipart; the single root part of the message inside a message/rfc822. */
  children: Part[];
  /** For message/rfc822 (and message/global): the bytes of the message inside, transfer encoding undone; else null. */
  embedded: Uint8Array | null;
  /** For message/rfc822 (and message/global): the headers of the message inside. */
  embeddedHeaders: HeaderField[] | null;
}

/** What a limit cut off; the message is still delivered, with the rest as an opaque attachment. */
export type ParseDefect =
  | 'too_many_parts'
  | 'too_deep'
  | 'header_too_large'
  | 'missing_boundary'
  | 'unterminated_multipart'
  | 'bad_encoding'
  | 'unknown_charset';

export interface ParsedMessage {
  headers: HeaderField[];
  root: Part;
  /** Leaf parts in order, going down into message/rfc822. */
  leaves: Part[];
  subject: string;
  from: Address[];
  sender: Address[];
  replyTo: Address[];
  to: Address[];
  cc: Address[];
  bcc: Address[];
  /** RFC 3339 UTC, null when absent or unreadable. */
  date: string | null;
  /** msg-ids without angle brackets (RFC 5322 §3.6.4). */
  messageId: string | null;
  inReplyTo: string[];
  references: string[];
  /** First plain text and first HTML body chosen for display (RFC 8621 §4.1.4), as Unicode; null when none. */
  text: string | null;
  html: string | null;
  /** Leaves of the message itself that are not its body; an embedded message/rfc822 is one attachment. */
  attachments: Attachment[];
  defects: ParseDefect[];
}

export interface Attachment {
  filename: string | null;
  contentType: string;
  disposition: 'attachment' | 'inline';
  contentId: string | null;
  /** Decoded bytes; for an embedded message its raw bytes. */
  content: Uint8Array;
  /** Path of the part it comes from. */
  path: string;
}
