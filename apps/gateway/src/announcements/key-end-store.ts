import type { PutKeyEndRequest } from '@dak/contracts/tenant';
import { ANNOUNCED_AT_ONCE, type Announcement } from './announcer';

/** Longer than any request may take. */
const LAST_REQUEST = "interval '2 minutes'";

/**
 * Told twice: at once, and when no request that the key began can be under way any more, so that what such a
 * request has still made ends too.
 */
const PENDING = `
  with ended as (
    select organization_id, id, end_told,
           case when least(revoked_at, expires_at) <= now() - ${LAST_REQUEST} then 2 else 1 end as version
      from api_key
     where end_told < 2
       and (revoked_at is not null or expires_at <= now()))
  select organization_id as "organizationId", id as "keyId", version
    from ended
   where end_told < version
     and ($1::uuid is null or organization_id = $1)
   order by organization_id, id
   limit ${ANNOUNCED_AT_ONCE}`;

const TOLD = `
  update api_key
     set end_told = $3
   where organization_id = $1
     and id = $2
     and end_told < $3`;

/** Keys that were revoked or have expired. */
export const KEY_ENDS: Announcement<PutKeyEndRequest> = {
  pending: PENDING,
  announced: TOLD,
  keyOf: ({ organizationId, keyId }) => [organizationId, keyId],
  announce: (directory, { organizationId, keyId }, call) =>
    directory.putKeyEnd({ organizationId, keyId }, call),
};
