import { setTimeout as delay } from 'node:timers/promises';
import { OWNER_KEPT_MS } from './domain';

/** Timers and the clock may differ by a little. */
const MARGIN_MS = 50;

/** Resolves when every process has forgotten whose a domain was before the commit that came before this call. */
export async function formerOwnerForgotten(): Promise<void> {
  await delay(OWNER_KEPT_MS + MARGIN_MS);
}
