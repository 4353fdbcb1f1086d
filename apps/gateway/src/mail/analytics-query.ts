import type { AnalyticsQuery } from '@dak/contracts/api';
import { AnalyticsQuery as QueryMessage } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';

export function toAnalyticsQuery({ mailbox, department, ...query }: AnalyticsQuery): QueryMessage {
  return messageOf(QueryMessage, query, { mailboxId: mailbox, departmentId: department });
}
