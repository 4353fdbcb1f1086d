import { domainToASCII, domainToUnicode } from 'node:url';

/** The forms under which a recipient address may stand in the directory. */
export interface AddressLookup {
  /** Exact forms: the domain as given, in ASCII and in Unicode. */
  readonly exact: readonly string[];
  /** The same without a `+detail` of the local part (RFC 5233); empty when there is none. */
  readonly withoutDetail: readonly string[];
  /** The domain in the same forms. */
  readonly domains: readonly string[];
  /** Set for `postmaster@domain`, which every domain that receives mail answers (RFC 5321 §4.5.1). */
  readonly postmasterDomains: readonly string[];
}

/**
 * How a recipient address is looked up. Domains are case-insensitive (RFC 5321 §2.4); local parts of
 * mailboxes hosted here are too, which §2.3.11 leaves to us. Null for what cannot be an address.
 */
export function addressLookup(address: string): AddressLookup | null {
  const at = address.lastIndexOf('@');
  if (at <= 0 || at === address.length - 1) return null;
  const local = unquote(address.slice(0, at)).normalize('NFC').toLowerCase();
  const domains = domainForms(address.slice(at + 1));
  if (local === '' || domains.length === 0) return null;
  const plus = local.indexOf('+');
  return {
    exact: domains.map((domain) => `${local}@${domain}`),
    withoutDetail: plus > 0 ? domains.map((domain) => `${local.slice(0, plus)}@${domain}`) : [],
    domains,
    postmasterDomains: local === 'postmaster' ? domains : [],
  };
}

/** A quoted local part means the same as the bare one (RFC 5321 §4.1.2). */
function unquote(local: string): string {
  if (local.length < 2 || !local.startsWith('"') || !local.endsWith('"')) return local;
  return local.slice(1, -1).replace(/\\(.)/gsu, '$1');
}

function domainForms(domain: string): string[] {
  const lower = domain.replace(/\.$/, '').normalize('NFC').toLowerCase();
  return [...new Set([lower, domainToASCII(lower), domainToUnicode(lower)])].filter(
    (form) => form !== '',
  );
}
