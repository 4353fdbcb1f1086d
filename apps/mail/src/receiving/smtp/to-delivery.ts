import { uuidv7 } from '@dak/kernel';
import type { SMTPServerSession } from 'smtp-server';
import type { ContentGathering } from './content-gathering';
import type { DeliveryRecipient, SmtpDelivery, TransmissionType } from './smtp-delivery';
import { formatTraceHeader } from './trace-header';

/** The delivery of a finished transaction, with our trace header in front of its content. */
export function toDelivery(
  hostName: string,
  session: SMTPServerSession,
  recipients: readonly DeliveryRecipient[],
  gathering: ContentGathering,
  lmtp: boolean,
): SmtpDelivery {
  const { envelope, tlsOptions } = session;
  const facts = {
    queueId: uuidv7(),
    recipients,
    clientAddress: session.remoteAddress,
    helo: session.hostNameAppearsAs,
    protocol: transmissionType(session, lmtp),
    tls: tlsOptions === false ? null : { cipher: tlsOptions.name, version: tlsOptions.version },
    receivedAt: new Date(),
  };
  const trace = Buffer.from(formatTraceHeader({ ...facts, hostName }));
  return {
    ...facts,
    mailFrom: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    raw: gathering.take(trace),
  };
}

function transmissionType(session: SMTPServerSession, lmtp: boolean): TransmissionType {
  // RFC 3848 has no name for TLS without EHLO.
  if (!lmtp && session.openingCommand === 'HELO') return 'SMTP';
  const utf8 = session.envelope.smtpUtf8 === true;
  if (lmtp) {
    if (session.secure) return utf8 ? 'UTF8LMTPS' : 'LMTPS';
    return utf8 ? 'UTF8LMTP' : 'LMTP';
  }
  if (session.secure) return utf8 ? 'UTF8SMTPS' : 'ESMTPS';
  return utf8 ? 'UTF8SMTP' : 'ESMTP';
}
