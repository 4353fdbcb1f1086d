import type { GatewayStore } from '../database/gateway-store';
import { noSuch } from './no-such';

/** An id that a request names, with the field it came in. */
export interface NamedId {
  /** As a client reads it, such as `users[0].user_id`. */
  field: string;
  id: string;
}

/** Lookups of users and departments, which the mail service does not have. */
export interface MailDirectory {
  /** Display name; null when the organization has no such user. */
  userName(organizationId: string, userId: string): Promise<string | null>;
  /** @throws InvalidError naming the first field whose id is no user of the organization */
  requireUsers(organizationId: string, ids: readonly NamedId[]): Promise<void>;
  /** @throws InvalidError naming the first field whose id is no department of the organization */
  requireDepartments(organizationId: string, ids: readonly NamedId[]): Promise<void>;
}

export function createMailDirectory({ database }: Pick<GatewayStore, 'database'>): MailDirectory {
  /** @param sql selects `id` by organization and ids */
  async function firstUnknown(
    sql: string,
    organizationId: string,
    ids: readonly NamedId[],
  ): Promise<NamedId | undefined> {
    if (ids.length === 0) return undefined;
    const { rows } = await database.inTenant(organizationId, (tx) =>
      tx.query<{ id: string }>(sql, [organizationId, ids.map(({ id }) => id)]),
    );
    const known = new Set(rows.map((row) => row.id));
    return ids.find(({ id }) => !known.has(id.toLowerCase()));
  }

  return {
    userName: async (organizationId, userId) => {
      const { rows } = await database.inTenant(organizationId, (tx) =>
        tx.query<{ display_name: string }>(
          `select display_name
             from user_account
            where organization_id = $1
              and id = $2`,
          [organizationId, userId],
        ),
      );
      return rows[0]?.display_name ?? null;
    },
    requireUsers: async (organizationId, ids) => {
      const unknown = await firstUnknown(
        `select id
           from user_account
          where organization_id = $1
            and id = any($2::uuid[])`,
        organizationId,
        ids,
      );
      if (unknown !== undefined) throw noSuch(unknown, 'user', '/settings/users');
    },
    requireDepartments: async (organizationId, ids) => {
      const unknown = await firstUnknown(
        `select id
           from department
          where organization_id = $1
            and id = any($2::uuid[])`,
        organizationId,
        ids,
      );
      if (unknown !== undefined) throw noSuch(unknown, 'department', '/departments');
    },
  };
}

/** Every id of a list with its position: `field[0]`, `field[1]` … */
export function namedIds(field: string, ids: readonly string[] | undefined): NamedId[] {
  return (ids ?? []).map((id, index) => ({ field: `${field}[${index}]`, id }));
}
