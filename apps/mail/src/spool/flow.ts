import { createHash } from 'node:crypto';
import { clientNetwork } from '@dak/platform/client-network';
import { FLOW_SEPARATOR } from './flow-client';
import type { SpoolEntry } from './spool-entry';

type FlowFacts = Pick<
  SpoolEntry,
  'source' | 'clientAddress' | 'mailFrom' | 'mailboxId' | 'importId'
>;

/**
 * What gets one turn among others: mail of one client and one sender for one mailbox, or one import.
 * Mail from the same sender to another mailbox waits in a separate queue.
 */
export function flowOf(entry: FlowFacts): string {
  const rest = createHash('sha1')
    .update(`${entry.mailboxId}\0${entry.mailFrom.toLowerCase()}`)
    .digest('base64url');
  return `${clientOf(entry)}${FLOW_SEPARATOR}${rest.slice(0, 12)}`;
}

/** What stands for a client or a flow where turns are taken: of no meaning, but an index compares it. */
export function turnKey(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Over LMTP the client is our own mail server, and between our mailboxes there is none: there the sender's domain stands for it. */
function clientOf({ source, clientAddress, mailFrom, importId, mailboxId }: FlowFacts): string {
  if (source === 'import') return `import:${importId ?? mailboxId}`;
  if (source === 'smtp' && clientAddress !== null) return clientNetwork(clientAddress);
  const domain = mailFrom.slice(mailFrom.lastIndexOf('@') + 1).toLowerCase();
  return `${source}:${domain.replaceAll(FLOW_SEPARATOR, '').slice(0, 255)}`;
}
