import { REPORTS, type ReportName, type ReportRecord } from '@dak/contracts/api';
import type { Document, GetReportRequest } from '@dak/contracts/mail';
import { NotFoundError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { AnalyticsDeps } from './analytics-deps';
import { analyticsQuery } from './analytics-query';
import { selectAuthentication, selectWrittenMessages } from './detail-store';
import { rangeRecord } from './get-overview';
import { selectNumbers, type Dimension } from './numbers-store';
import { resolveRange } from './range-store';
import {
  deliverabilityTable,
  responseTimesTable,
  volumeTable,
  workloadTable,
} from './report-tables';

const DIMENSIONS: Record<ReportName, readonly Dimension[]> = {
  volume: ['total', 'bucket'],
  'response-times': ['bucket'],
  deliverability: ['bucket'],
  workload: ['actor', 'assignee'],
};

/** @throws NotFoundError for an unknown report */
export async function getReport(
  { database, clock }: AnalyticsDeps,
  request: GetReportRequest,
  { principal }: CallContext,
): Promise<Document> {
  const report = REPORTS.find((name) => name === request.report);
  if (report === undefined) throw new NotFoundError('report');
  const query = analyticsQuery(request.query, principal);
  const record = await database.inTenant(
    principal.organizationId,
    async (tx): Promise<ReportRecord> => {
      const range = await resolveRange(tx, principal.organizationId, query, clock());
      const rows = await selectNumbers(tx, principal, query, range, DIMENSIONS[report]);
      const table = await (async () => {
        switch (report) {
          case 'volume':
            return volumeTable(range.starts, rows);
          case 'response-times':
            return responseTimesTable(range.starts, rows);
          case 'deliverability': {
            const verdicts = await selectAuthentication(tx, principal, query, range);
            return deliverabilityTable(range.starts, rows, verdicts);
          }
          case 'workload':
            return workloadTable(rows, await selectWrittenMessages(tx, principal, query, range));
        }
      })();
      return { report, range: rangeRecord(range), as_of: rows.as_of, ...table };
    },
  );
  return { id: '', version: 0, json: jsonBytes(record), replayed: false };
}
