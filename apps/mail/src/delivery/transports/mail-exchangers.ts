import { promises as systemDns, type MxRecord } from 'node:dns';

/** The part of `node:dns` that a lookup needs. */
export interface MxResolver {
  resolveMx(domain: string): Promise<MxRecord[]>;
  resolve4(host: string): Promise<string[]>;
  resolve6(host: string): Promise<string[]>;
}

export type MailExchangers =
  | { readonly kind: 'hosts'; readonly hosts: readonly string[] }
  /** RFC 7505: the domain takes no mail. */
  | { readonly kind: 'null_mx' }
  | { readonly kind: 'no_such_domain' }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * Hosts that take mail for a domain, best first, those of equal preference in random order; without
 * MX records the domain itself (RFC 5321 §5.1).
 * @param random A number from 0 to below 1.
 */
export async function findMailExchangers(
  domain: string,
  random: () => number,
  resolver: MxResolver = systemDns,
): Promise<MailExchangers> {
  let records: MxRecord[];
  try {
    records = await resolver.resolveMx(domain);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENODATA') return { kind: 'hosts', hosts: [domain] };
    if (code === 'ENOTFOUND') return { kind: 'no_such_domain' };
    return { kind: 'unknown', reason: `MX look-up of ${domain} failed: ${code}` };
  }
  if (records.length === 0) return { kind: 'hosts', hosts: [domain] };
  if (records.length === 1 && ['', '.'].includes(records[0]!.exchange)) return { kind: 'null_mx' };
  const hosts = records
    .map((record) => ({ ...record, tie: random() }))
    .sort((a, b) => a.priority - b.priority || a.tie - b.tie)
    .map(({ exchange }) => exchange)
    .filter((host) => host !== '' && host !== '.');
  return { kind: 'hosts', hosts };
}

/** IPv4 before IPv6: reputation systems and reverse names still cover it better. */
export async function addressesOf(
  host: string,
  resolver: MxResolver = systemDns,
): Promise<string[]> {
  const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return families.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error
    ? String(error.code)
    : 'unknown error';
}
