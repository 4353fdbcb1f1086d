import type { DomainServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import { createDomain } from './create-domain';
import { deleteDomain } from './delete-domain';
import type { DomainDeps } from './domain-deps';
import { getDomain, listDomains } from './list-domains';
import { verifyDomain } from './verify-domain';

export function createDomainHandlers(
  deps: DomainDeps,
): Handlers<typeof DomainServiceService, CallContext> {
  return {
    listDomains: (request, context) => listDomains(deps, request, context),
    getDomain: (request, context) => getDomain(deps, request, context),
    createDomain: (request, context) => createDomain(deps, request, context),
    deleteDomain: (request, context) => deleteDomain(deps, request, context),
    verifyDomain: (request, context) => verifyDomain(deps, request, context),
  };
}
