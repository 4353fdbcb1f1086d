import type { Principal } from '@dak/kernel';
import type { RouteContext } from '../http/route';

/** The part of a request that an operation on identity needs. */
export type IdentityCaller = Pick<
  RouteContext<Principal, unknown, unknown, unknown>,
  'principal' | 'requestId' | 'idempotency' | 'ifMatch'
>;
