import type { Role } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';

interface PersonRow {
  role: Role;
  active: boolean;
  department_ids: string[];
}

export async function selectPerson(
  database: Database,
  organizationId: string,
  userId: string,
): Promise<PersonRow | null> {
  return database.asWorker(async (tx) => {
    const { rows } = await tx.query<PersonRow>(
      `select role, active, department_ids from person where organization_id = $1 and user_id = $2`,
      [organizationId, userId],
    );
    return rows[0] ?? null;
  });
}
