import type { PutUserRequest } from '@dak/contracts/tenant';
import { ANNOUNCED_AT_ONCE, type Announcement } from './announcer';

const PENDING = `
  select u.organization_id  as "organizationId",
         u.id               as "userId",
         u.role, u.active,
         u.standing_version as version,
         array(select m.department_id::text
                 from department_member m
                where m.organization_id = u.organization_id
                  and m.user_id = u.id
                order by m.department_id) as "departmentIds"
    from user_account u
   where u.announced_version <> u.standing_version
     and ($1::uuid is null or u.organization_id = $1)
   order by u.organization_id, u.id
   limit ${ANNOUNCED_AT_ONCE}`;

const ANNOUNCED = `
  update user_account
     set announced_version = $3
   where organization_id = $1
     and id = $2
     and announced_version < $3`;

export const USERS: Announcement<PutUserRequest> = {
  pending: PENDING,
  announced: ANNOUNCED,
  keyOf: ({ organizationId, userId }) => [organizationId, userId],
  announce: (directory, user, call) => directory.putUser(user, call),
};
