import { InvalidError } from '@dak/kernel';
import type { GatewayTransaction } from '../database/gateway-store';

/** @throws InvalidError naming the first id that is no department of the organization */
export async function requireDepartments(
  tx: GatewayTransaction,
  organizationId: string,
  departmentIds: readonly string[],
): Promise<void> {
  if (departmentIds.length === 0) return;
  const found = await tx.db.department.findMany({
    where: { organizationId, id: { in: [...departmentIds] } },
    select: { id: true },
  });
  const known = new Set(found.map((department) => department.id));
  const index = departmentIds.findIndex((id) => !known.has(id));
  if (index < 0) return;
  throw new InvalidError(
    `department_ids[${index}] is not a department of this organization: GET /departments lists them.`,
  );
}
