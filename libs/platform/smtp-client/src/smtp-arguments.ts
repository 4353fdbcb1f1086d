import { domainToASCII } from 'node:url';
import { InvalidError } from '@dak/kernel';

const CONTROL = /[\u0000-\u001f\u007f]/;
const NON_ASCII = /[^\u0000-\u007f]/;
const MAILBOX =
  /^(?:"(?:[^"\\\u0000-\u001f\u007f]|\\[^\u0000-\u001f\u007f])*"|[^\s"<>@]+)(?:@[^\s"<>@]+)?$/;

/**
 * Refuses what could end a command line early, so that no value becomes a second command.
 * @throws InvalidError naming `field`
 */
export function assertCommandArgument(value: string, field: string): void {
  if (CONTROL.test(value)) {
    throw new InvalidError(
      `${field} has a control character, such as a line break or NUL. Remove it.`,
    );
  }
}

/**
 * Refuses anything but a Mailbox (RFC 5321 §4.1.2) that could carry parameters or commands.
 * @throws InvalidError naming `field`
 */
export function assertMailbox(address: string, field: string): void {
  assertCommandArgument(address, field);
  if (!MAILBOX.test(address)) {
    throw new InvalidError(
      `${field} is not a mail address: give it as local-part@domain, without angle brackets, spaces or a display name.`,
    );
  }
}

/**
 * The address for a server without SMTPUTF8: the domain as A-labels. Null when the local part needs
 * the extension (RFC 6531 §3.2).
 */
export function toAsciiMailbox(address: string): string | null {
  if (!NON_ASCII.test(address)) return address;
  const at = address.lastIndexOf('@');
  const localPart = at === -1 ? address : address.slice(0, at);
  if (NON_ASCII.test(localPart)) return null;
  const domain = domainToASCII(address.slice(at + 1));
  return domain === '' ? null : `${localPart}@${domain}`;
}

export function needsSmtpUtf8(address: string): boolean {
  return NON_ASCII.test(address);
}
