import type { Document } from '@dak/contracts/webhook';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { Sealing } from './sealing';

/**
 * As `idempotent`, for answers that show a secret: the stored answer is sealed, so that the database alone does
 * not reveal it.
 */
export async function idempotentSealed(
  tx: SqlExecutor,
  context: CallContext,
  sealing: Sealing,
  effect: () => Promise<Document>,
): Promise<Document> {
  const { organizationId } = context.principal;
  const stored = await idempotent(tx, context, async () => {
    const document = await effect();
    const sealed = sealing.seal(document.json.toString('utf8'), organizationId);
    return { ...document, json: jsonBytes({ sealed: sealed.toString('base64') }) };
  });
  const { sealed } = JSON.parse(stored.json.toString('utf8')) as { sealed: string };
  const json = sealing.open(Buffer.from(sealed, 'base64'), organizationId);
  return { ...stored, json: Buffer.from(json, 'utf8') };
}
