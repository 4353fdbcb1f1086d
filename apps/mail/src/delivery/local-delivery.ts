import type { RecipientTarget } from '../mailboxes/addresses/recipient-verdict';
import { spoolEntry, type SpoolEntry } from '../spool/spool-entry';
import type { ClaimedDelivery } from './claimed-delivery';

/**
 * The message as a mailbox of this deployment receives it: through the same spool and pipeline as
 * mail from outside, below a `Received` field of Dak's (RFC 5321 §4.4), by which loops are counted.
 */
export function localSpoolEntry(
  delivery: ClaimedDelivery,
  target: RecipientTarget,
  raw: Buffer,
  hostName: string,
  now: Date,
): SpoolEntry {
  const date = now.toUTCString().replace('GMT', '+0000');
  const trace = `Received: by ${hostName} id ${delivery.id};\r\n\t${date}\r\n`;
  return spoolEntry({
    organizationId: target.organizationId,
    mailboxId: target.mailboxId,
    source: 'local',
    queueId: delivery.id,
    mailFrom: delivery.mailFrom,
    recipient: delivery.recipient,
    receivedAt: now,
    traceparent: delivery.traceparent,
    raw: Buffer.concat([Buffer.from(trace), raw]),
  });
}
