import { z } from 'zod';
import { REPORTS, ReportRecord } from '@dak/contracts/api';
import { defineRoute, type Route } from '../http';
import { analyticsFields, toAnalyticsQuery } from './analytics-fields';
import { documentReply } from './document-reply';
import type { MailClients } from './mail-clients';
import { prefersCsv, reportCsv } from './report-csv';

const report = ReportRecord.meta({ id: 'Report' });
const VARY = { Vary: 'Accept' };

const DESCRIPTION = `As JSON, or as CSV with \`Accept: text/csv\`: a header line with the names in \`columns\`, then
the rows. Rows of \`volume\`, \`response-times\` and \`deliverability\` are hours, days, weeks or months, empty ones
included; those of \`workload\` are people, keys, agents and rules. Users get what they can read now.`;

export function reportRoutes({ analytics }: Pick<MailClients, 'analytics'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/reports/{report}',
      tag: 'reports',
      scopes: ['reports.read'],
      summary: 'A report',
      description: DESCRIPTION,
      request: {
        params: z.object({ report: z.enum(REPORTS) }),
        query: z.object(analyticsFields),
      },
      responses: {
        200: { description: 'The report', schema: report, alternatives: ['text/csv'] },
      },
      handler: async ({ params, query, headers, call }) => {
        const request = { report: params.report, query: toAnalyticsQuery(query) };
        const document = await analytics.getReport(request, call);
        if (!prefersCsv(headers.accept)) return { ...documentReply(200, document), headers: VARY };
        const record = JSON.parse(document.json.toString('utf8')) as ReportRecord;
        return {
          status: 200,
          stream: asStream(reportCsv(record)),
          headers: {
            ...VARY,
            'Content-Type': 'text/csv; charset=utf-8; header=present',
            'Content-Disposition': `attachment; filename="${params.report}.csv"`,
          },
        };
      },
    }),
  ];
}

function asStream(bytes: Buffer): AsyncIterable<Uint8Array> {
  return (async function* () {
    yield bytes;
  })();
}
