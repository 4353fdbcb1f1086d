import type { AutomationSignals } from '@dak/formats/auto-submitted';

import type { MessageKind } from './message-reading';

/** The parsed machine-readable parts of a message. */
export interface ReportSigns {
  isFeedback: boolean;
  isDeliveryReport: boolean;
  isDispositionNotification: boolean;
}

/**
 * The kind of a message. Reports stand first: they carry Auto-Submitted and often list fields as well. An automatic
 * answer that came through a list is still an answer; a notification that came through one is list mail.
 */
export function classify(signs: ReportSigns, automation: AutomationSignals): MessageKind {
  if (signs.isFeedback) return 'arf';
  if (signs.isDeliveryReport) return 'dsn';
  if (signs.isDispositionNotification) return 'mdn';
  if (automation.autoSubmitted === 'auto-replied') return 'auto_reply';
  if (automation.list !== null) return 'list';
  return automation.autoSubmitted === null ? 'human' : 'auto_reply';
}
