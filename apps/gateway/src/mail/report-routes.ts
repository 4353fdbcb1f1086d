import { AnalyticsQuery, REPORTS, ReportRecord, type ReportName } from '@dak/contracts/api';
import { defineRoute, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { toAnalyticsQuery } from './analytics-query';
import type { MailClients } from './mail-clients';
import { prefersCsv, reportCsv } from './report-csv';

const report = ReportRecord.meta({ id: 'Report' });
const VARY = { Vary: 'Accept' };

const CSV = `As JSON, or as CSV with \`Accept: text/csv\`: a header line with the names in \`columns\`, then the rows.`;
const PER_BUCKET = 'One row per hour, day, week or month, including empty ones.';

const SUMMARIES: Record<ReportName, readonly [summary: string, rows: string]> = {
  volume: ['Get the volume report: mail received and sent', PER_BUCKET],
  'response-times': [
    'Get the response time report: how long senders waited for a reply',
    PER_BUCKET,
  ],
  deliverability: ['Get the deliverability report: outcomes of sent mail', PER_BUCKET],
  workload: [
    'Get the workload report: work per user, key, agent and rule',
    'One row per user, key, agent and rule.',
  ],
};

export function reportRoutes({ analytics }: Pick<MailClients, 'analytics'>): Route[] {
  return REPORTS.map((name) => {
    const [summary, rows] = SUMMARIES[name];
    return defineRoute({
      method: 'GET',
      path: `/reports/${name}`,
      tag: 'reports',
      summary,
      description: `${rows} ${CSV} Users get figures for the mail they can read now.`,
      request: { query: AnalyticsQuery },
      responses: {
        200: { description: 'The report', schema: report, alternatives: ['text/csv'] },
      },
      handler: async ({ query, headers, call }) => {
        const request = { report: name, query: toAnalyticsQuery(query) };
        const document = await analytics.getReport(request, call);
        if (!prefersCsv(headers.accept)) return { ...documentReply(200, document), headers: VARY };
        const record = JSON.parse(document.json.toString('utf8')) as ReportRecord;
        return {
          status: 200,
          stream: asStream(reportCsv(record)),
          headers: {
            ...VARY,
            'Content-Type': 'text/csv; charset=utf-8; header=present',
            'Content-Disposition': `attachment; filename="${name}.csv"`,
          },
        };
      },
    });
  });
}

function asStream(bytes: Buffer): AsyncIterable<Uint8Array> {
  return (async function* () {
    yield bytes;
  })();
}
