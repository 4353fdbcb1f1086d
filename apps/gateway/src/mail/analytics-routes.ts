import { AnalyticsQuery, OverviewRecord } from '@dak/contracts/api';
import { defineRoute, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { toAnalyticsQuery } from './analytics-query';
import type { MailClients } from './mail-clients';

const overview = OverviewRecord.meta({ id: 'AnalyticsOverview' });

export function analyticsRoutes({ analytics }: Pick<MailClients, 'analytics'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/analytics/overview',
      tag: 'analytics',
      summary: 'Get analytics overview',
      description:
        'Computed from events within a second or two. Users get figures for the mail they can read now, admins for the whole organization.',
      request: { query: AnalyticsQuery },
      responses: {
        200: {
          description: 'Totals, a series, and both by mailbox, department and assignee',
          schema: overview,
        },
      },
      handler: async ({ query, call }) =>
        documentReply(200, await analytics.getOverview({ query: toAnalyticsQuery(query) }, call)),
    }),
  ];
}
