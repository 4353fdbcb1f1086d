import { domainToASCII } from 'node:url';
import { InvalidError } from '@dak/kernel';
import { z } from 'zod';
import { fault } from '../../requests';

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
const MAX_LIST = 200;
/** Of an address that may be incomplete, with its name. */
const MAX_TEXT_LENGTH = 600;
/** More than any name and address need: reading a text takes time quadratic in its length. */
const MAX_WRITTEN_LENGTH = 2_000;

const CONTROL = /\p{Cc}/u;
const DOT_ATOM = /^[^\s"(),:;<>@[\\\]]+$/u;
const QUOTED_LOCAL = /^"(?:[^"\\]|\\.)*"$/u;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const FAULTS = {
  invalid_characters: 'must not contain line breaks or other control characters. Remove them.',
  invalid_recipient: 'is not a mail address. Write local-part@domain, or Name <local-part@domain>.',
} as const;
type RecipientFault = keyof typeof FAULTS;

/**
 * Reads `a@b.example` or `Name <a@b.example>`.
 * @param field Name of the request field, for the sentence of the error.
 * @throws InvalidError `invalid_characters` or `invalid_recipient`
 */
export function parseRecipient(text: string, field: string): Recipient {
  const read = readRecipient(text);
  if (typeof read !== 'string') return read;
  throw new InvalidError(`${field} ${FAULTS[read]}`, read);
}

/** Addresses as {@link parseRecipient} reads them; they stay as they were written. */
export const recipientList = (max = MAX_LIST) =>
  addressList(max, 'local-part@domain, or Name <local-part@domain>', (text) => {
    const read = readRecipient(text);
    return typeof read === 'string' ? read : null;
  });

/** Addresses that may still be incomplete. */
export const unfinishedRecipientList = (max: number) =>
  addressList(max, 'An address, complete or not', (text) =>
    CONTROL.test(text) ? 'invalid_characters' : null,
  ).refine(
    (list) => list.every((text) => text.length <= MAX_TEXT_LENGTH),
    `must not name an address of more than ${MAX_TEXT_LENGTH} characters.`,
  );

/** Says the first fault only, and nothing of a list that is too long: a sentence for each entry would cost too much. */
function addressList(
  max: number,
  description: string,
  faultOf: (text: string) => RecipientFault | null,
) {
  return z
    .array(z.string().meta({ description }))
    .max(MAX_LIST, { abort: true })
    .refine((list) => list.length <= max, {
      error: `must not name more than ${max} addresses.`,
      abort: true,
    })
    .superRefine((list, context) => {
      for (const [index, text] of list.entries()) {
        const code = faultOf(text);
        if (code === null) continue;
        const { error: message, params } = fault(code, FAULTS[code]);
        context.addIssue({ code: 'custom', path: [index], message, params });
        return;
      }
    });
}

/** What is wrong with `text` when it is no recipient. */
function readRecipient(text: string): Recipient | RecipientFault {
  // What could start a new header field or line (RFC 5322 §2.2).
  if (CONTROL.test(text)) return 'invalid_characters';
  if (text.length > MAX_WRITTEN_LENGTH) return 'invalid_recipient';
  const trimmed = text.trim();
  const angle = /^(.*?)\s*<([^<>]*)>$/u.exec(trimmed);
  const name = angle === null ? '' : unquote(angle[1]!.trim());
  const email = normalizeAddress(angle === null ? trimmed : angle[2]!.trim());
  return email === null || name.length > MAX_NAME_LENGTH ? 'invalid_recipient' : { email, name };
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
