import { domainToASCII } from 'node:url';
import { InvalidError } from '@dak/kernel';

/** An address that mail can be sent to: domain in lower case and as A-labels, local part as given. */
export interface Recipient {
  readonly email: string;
  /** Display name; empty when none was given. */
  readonly name: string;
}

/** RFC 5321 §4.5.3.1: octets of the local part, and of the path without its brackets. */
const MAX_LOCAL_OCTETS = 64;
const MAX_ADDRESS_OCTETS = 254;
const MAX_NAME_LENGTH = 256;

const CONTROL = /\p{Cc}/u;
const DOT_ATOM = /^[^\s"(),:;<>@[\\\]]+$/u;
const QUOTED_LOCAL = /^"(?:[^"\\]|\\.)*"$/u;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads `a@b.example` or `Name <a@b.example>`.
 * @param field Name of the request field, for the sentence of the error.
 * @throws InvalidError `invalid_recipient`
 */
export function parseRecipient(text: string, field: string): Recipient {
  assertHeaderSafe(text, field);
  const trimmed = text.trim();
  const angle = /^(.*?)\s*<([^<>]*)>$/u.exec(trimmed);
  const name = angle === null ? '' : unquote(angle[1]!.trim());
  const email = normalizeAddress(angle === null ? trimmed : angle[2]!.trim());
  if (email === null || name.length > MAX_NAME_LENGTH) {
    throw new InvalidError(
      `${field} is not a mail address. Write local-part@domain, or Name <local-part@domain>.`,
      'invalid_recipient',
    );
  }
  return { email, name };
}

/** The address as it is sent to, or null when it is none (RFC 5321 §4.1.2, RFC 6531 §3.3). */
export function normalizeAddress(address: string): string | null {
  const at = address.lastIndexOf('@');
  if (at < 1 || at === address.length - 1) return null;
  const local = address.slice(0, at);
  if (Buffer.byteLength(local) > MAX_LOCAL_OCTETS || CONTROL.test(local)) return null;
  const isAtom = DOT_ATOM.test(local) && !/^\.|\.\.|\.$/.test(local);
  if (!isAtom && !QUOTED_LOCAL.test(local)) return null;
  const domain = normalizeDomain(address.slice(at + 1));
  if (domain === null) return null;
  const whole = `${local}@${domain}`;
  return Buffer.byteLength(whole) > MAX_ADDRESS_OCTETS ? null : whole;
}

function normalizeDomain(domain: string): string | null {
  const ascii = domainToASCII(domain).toLowerCase();
  // An all-numeric last label is an IPv4 address to the URL standard: nothing mail can be sent to.
  const labels = ascii.split('.');
  const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!);
  return isName && ascii.length <= 253 ? ascii : null;
}

/**
 * Refuses what could start a new header field or line (RFC 5322 §2.2).
 * @throws InvalidError `invalid_characters`
 */
export function assertHeaderSafe(text: string, field: string): void {
  if (CONTROL.test(text)) {
    throw new InvalidError(
      `${field} must not contain line breaks or other control characters. Remove them.`,
      'invalid_characters',
    );
  }
}

function unquote(name: string): string {
  if (!/^".*"$/u.test(name) || name.length < 2) return name;
  return name.slice(1, -1).replace(/\\(.)/gu, '$1');
}

/** How two addresses compare: the local part without regard to case, as every host in practice does. */
export function addressKey(email: string): string {
  return email.toLowerCase();
}

/** `Name <a@b>`, or the bare address. */
export function formatRecipient({ email, name }: Recipient): string {
  if (name === '') return email;
  return /^[\p{L}\p{N} '!#$%&*+/=?^_`{|}~-]+$/u.test(name)
    ? `${name} <${email}>`
    : `"${name.replace(/[\\"]/g, '\\$&')}" <${email}>`;
}
