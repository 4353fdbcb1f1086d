import { freePort } from '@dak/platform/lifecycle';
import type { Config } from '@dak/platform/config';

export interface SiteAddresses {
  port: number;
  /** Where this machine itself reaches the API, without a slash at the end. */
  local: string;
  /** Where clients reach it; links are made with it. Without a slash at the end. */
  site: string;
  /** The API's certificate, if it serves HTTPS. */
  certificateFile: string | null;
}

/** Links carry the port, so that a free one is chosen before anything is built. */
export async function siteAddresses(
  config: Config<'DAK_HTTP_HOST' | 'DAK_HTTP_PORT' | 'DAK_SITE_URL' | 'DAK_HTTPS_CERT'>,
): Promise<SiteAddresses> {
  const port = config.DAK_HTTP_PORT || (await freePort(config.DAK_HTTP_HOST));
  const certificateFile = config.DAK_HTTPS_CERT ?? null;
  const protocol = certificateFile === null ? 'http' : 'https';
  const local = `${protocol}://${reachableHost(config.DAK_HTTP_HOST)}:${port}`;
  const site = (config.DAK_SITE_URL ?? local).replace(/\/$/, '');
  return { port, local, site, certificateFile };
}

/** As part of a URL; an address that means "all interfaces" cannot be called. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
}
