import {
  PutOperationsRequest,
  PutOrganizationRequest,
  type PutKeyEndRequest,
  type PutUserRequest,
} from '@dak/contracts/tenant';
import type { CallContext } from '@dak/platform/grpc';
import type { TenantHandlers } from './handlers';

/**
 * The same under the `TenantService` that mail and webhook each had before `dak.tenant.v1`: gateways of that version
 * go on announcing during an upgrade. Their messages have some of the fields of today, under other numbers.
 */
export function formerTenantHandlers(tenants: TenantHandlers) {
  return {
    putOrganization: (request: Partial<PutOrganizationRequest>, context: CallContext) =>
      tenants.putOrganization(PutOrganizationRequest.fromPartial(request), context),
    putOperations: (request: Partial<PutOperationsRequest>, context: CallContext) =>
      tenants.putOperations(PutOperationsRequest.fromPartial(request), context),
    putUser: (request: PutUserRequest, context: CallContext) => tenants.putUser(request, context),
    putKeyEnd: (request: PutKeyEndRequest, context: CallContext) =>
      tenants.putKeyEnd(request, context),
    settleAudit: (_request: object, context: CallContext) => tenants.settleAudit({}, context),
  };
}
