/** One message found in an import, or why there is none. */
export type ImportItem = ImportedMessage | { readonly failure: string };

export interface ImportedMessage {
  readonly raw: Buffer;
  readonly unread: boolean;
  /** Arrival in its original mailbox; null if unknown. */
  readonly arrivedAt: Date | null;
  /** Labels of its folder. */
  readonly labels: readonly string[];
}

/** Octets of one message, as over SMTP. */
export const MAX_MESSAGE_BYTES = 35 * 1024 * 1024;

export const TOO_LARGE: ImportItem = {
  failure: `The message is larger than ${MAX_MESSAGE_BYTES} bytes.`,
};

export const NOT_MAIL_SENTENCE =
  'This is not mail: it has no header field such as "From: ann@example.org". Send an RFC 5322 message.';
export const NOT_MAIL: ImportItem = { failure: NOT_MAIL_SENTENCE };

/** True when the first 8 KiB hold a line that may be a header field; mail that is odd in other ways is taken. */
export function looksLikeMail(raw: Buffer): boolean {
  return /^[!-9;-~]{1,76}:/m.test(raw.toString('latin1', 0, 8192).replaceAll('\r', '\n'));
}

/** The label of a folder path (`Lists/Foo Bar` → `folder:lists.foo-bar`); none for the top folder. */
export function folderLabels(segments: readonly string[]): string[] {
  const name = segments
    .map((segment) =>
      segment
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^a-z0-9._-]+/g, '-')
        .replace(/^[-.]+|[-.]+$/g, ''),
    )
    .filter((segment) => segment !== '')
    .join('.')
    .slice(0, 56)
    .replace(/[-.]+$/, '');
  return name === '' ? [] : [`folder:${name}`];
}
