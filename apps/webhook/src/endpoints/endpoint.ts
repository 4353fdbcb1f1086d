import { InvalidError } from '@dak/kernel';
import { judgeUrl, type Allowance } from '@dak/platform/guarded-http';
import type { Sealing } from '../secrets/sealing';
import type { EndpointColumns } from './endpoint-row';

/** @throws InvalidError for a URL that requests may not go to */
export function requireUrl(url: string | undefined, allowance: Allowance): void {
  if (url === undefined) return;
  const judgment = judgeUrl(url, allowance);
  if (!judgment.allowed) throw new InvalidError(`url ${judgment.reason}.`, judgment.code);
}

/** Custom headers as columns: names are readable, values are sealed. */
export function headerColumns(
  headers: Readonly<Record<string, string>>,
  sealing: Sealing,
  organizationId: string,
): Pick<EndpointColumns, 'header_names' | 'sealed_headers'> {
  const names = Object.keys(headers);
  const sealed = names.length > 0 ? sealing.seal(JSON.stringify(headers), organizationId) : null;
  return { header_names: names, sealed_headers: sealed };
}

/** What the audit log may show of a URL; the rest of it may be confidential. */
export function hostOf(url: string): string {
  return new URL(url).host;
}
