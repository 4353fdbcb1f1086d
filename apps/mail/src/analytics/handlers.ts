import type { AnalyticsServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { AnalyticsDeps } from './analytics-deps';
import { getOverview } from './get-overview';
import { getReport } from './get-report';

export function createAnalyticsHandlers(
  deps: AnalyticsDeps,
): Handlers<typeof AnalyticsServiceService, CallContext> {
  return {
    getOverview: (request, context) => getOverview(deps, request, context),
    getReport: (request, context) => getReport(deps, request, context),
  };
}
