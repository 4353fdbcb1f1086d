import { ANNOUNCED_AT_ONCE, type Announcement } from './announcer';

/** What the services have to know of a person to judge what they may see. */
export interface UserState {
  organizationId: string;
  userId: string;
  role: 'user' | 'admin' | 'superadmin';
  active: boolean;
  departmentIds: string[];
  /** Grows with every change of the above; an older one must change nothing. */
  version: number;
}

export type AnnounceUser = (state: UserState) => Promise<void>;

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

export function userAnnouncement(announce: AnnounceUser): Announcement<UserState> {
  return {
    pending: PENDING,
    announced: ANNOUNCED,
    keyOf: ({ organizationId, userId }) => [organizationId, userId],
    announce,
  };
}
