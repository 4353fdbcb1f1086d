import { domainToASCII } from 'node:url';
import { InvalidError } from '@dak/kernel';

/** Leaves room for the name of the record that proves the ownership (RFC 1035 §2.3.4: 255 octets). */
const MAX_LENGTH = 230;
/** Ends a host name in a URL, which is how the conversion reads the text. */
const NOT_IN_NAME = /[\s/\\?#:@%[\]]/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Lower case with A-labels (RFC 5890); null unless it consists of LDH labels. */
export function asciiDomain(text: string): string | null {
  const name = NOT_IN_NAME.test(text) ? '' : domainToASCII(text).toLowerCase();
  return name !== '' && name.split('.').every((label) => LABEL.test(label)) ? name : null;
}

/**
 * A domain that an organization can own: a name below a top-level domain, in its ASCII form and without a
 * dot at the end.
 * @throws InvalidError naming the field
 */
export function ownableDomain(field: string, text: string): string {
  const name = asciiDomain(text.endsWith('.') ? text.slice(0, -1) : text);
  if (name === null || name.length > MAX_LENGTH) {
    throw new InvalidError(
      `${field} must be a domain name such as example.com, with at most ${MAX_LENGTH} characters.`,
    );
  }
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (last === name) {
    throw new InvalidError(`${field} is a top-level domain: name one below it, as example.com is.`);
  }
  // An address, not a name: no top-level domain is numeric (RFC 3696 §2).
  if (/^\d+$/.test(last)) throw new InvalidError(`${field} must be a domain name, not an address.`);
  return name;
}

/** The part of a mailbox address after the @. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
