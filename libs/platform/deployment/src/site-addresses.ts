import { freePort } from '@dak/platform/lifecycle';
import type { Config } from '@dak/platform/config';

export interface SiteAddresses {
  port: number;
  /** Where this machine itself reaches the API, without a slash at the end. */
  local: string;
  /** Where clients reach it; links are made with it. Without a slash at the end. */
  site: string;
}

/** Links carry the port, so that a free one is chosen before anything is built. */
export async function siteAddresses(
  config: Config<'DAK_HTTP_HOST' | 'DAK_HTTP_PORT' | 'DAK_SITE_URL'>,
): Promise<SiteAddresses> {
  const port = config.DAK_HTTP_PORT || (await freePort(config.DAK_HTTP_HOST));
  const local = `http://${reachableHost(config.DAK_HTTP_HOST)}:${port}`;
  return { port, local, site: (config.DAK_SITE_URL ?? local).replace(/\/$/, '') };
}

/** As part of a URL; an address that means "all interfaces" cannot be called. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
}
