import type { PutOperationsRequest } from '@dak/contracts/tenant';
import type { Announcement } from './announcer';

/** They belong to no organization. */
const PENDING = `
  select outgoing, webhooks, version
    from operations
   where announced_version <> version
     and $1::uuid is null`;

const ANNOUNCED = `
  update operations
     set announced_version = $1
   where announced_version < $1`;

export const OPERATIONS: Announcement<PutOperationsRequest> = {
  pending: PENDING,
  announced: ANNOUNCED,
  keyOf: () => [],
  announce: (directory, operations, call) => directory.putOperations(operations, call),
};
