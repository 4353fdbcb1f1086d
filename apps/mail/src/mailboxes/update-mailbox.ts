import { UpdateMailbox } from '@dak/contracts/api';
import type { Document, UpdateMailboxRequest } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { RefusedError, VersionMismatchError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import type { SqlExecutor } from '@dak/platform/postgres';
import { documentOf, holdDomainOf, requireDefaultSignature } from './create-mailbox';
import { mailboxAddress, patchedMetadata, patchedSettings, settingsOf } from './mailbox';
import type { MailboxDeps } from './mailbox-deps';
import type { MailboxRow } from './mailbox-row';
import {
  lockMailbox,
  replaceAssignments,
  selectAssignments,
  updateMailbox as store,
  type MailboxAssignments,
} from './mailbox-store';
import { requireMailbox } from './visibility-store';

/**
 * Changes the fields that the caller sent.
 * @throws InvalidError when the default signature is none of the mailbox
 * @throws RefusedError when another address is asked for: `domain_not_owned` or `address_fixed`
 * @throws VersionMismatchError when the mailbox has another version than expected
 */
export async function updateMailbox(
  { models, clock }: MailboxDeps,
  request: UpdateMailboxRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const sent = parseRequest(UpdateMailbox, requestOf(request, request.fields));
  return models.inTenant(organizationId, async (tx) => {
    await requireMailbox(tx, principal, request.id, 'send');
    await lockMailbox(tx, organizationId, request.id);
    const row = await requireMailbox(tx, principal, request.id, 'send');
    if (request.expectedVersion !== undefined && request.expectedVersion !== row.version) {
      throw new VersionMismatchError('mailbox', row.version);
    }
    const now = clock();
    const changed = patched(row, sent, now);
    if (sent.address !== undefined) {
      await requireSameAddress(tx, organizationId, row, sent.address);
    }
    if (sent.default_signature_id !== undefined) {
      await requireDefaultSignature(tx, organizationId, changed);
    }
    await store(tx, organizationId, changed);
    const assignments: Partial<MailboxAssignments> = {};
    const { department_ids, assigned_user_ids } = sent;
    if (department_ids !== undefined) assignments.department_ids = department_ids;
    if (assigned_user_ids !== undefined) {
      const { users } = await selectAssignments(tx, organizationId, row.id);
      const levels = new Map(users.map((user) => [user.user_id, user.access]));
      assignments.users = assigned_user_ids.map((user_id) => ({
        user_id,
        access: levels.get(user_id) ?? 'send',
      }));
    }
    await replaceAssignments(tx, organizationId, row.id, assignments);
    await noteAudit(tx, context, {
      action: 'mailbox.updated',
      target: { type: 'mailbox', id: row.id },
      details: { fields: request.fields, status: changed.status },
    });
    return documentOf(tx, organizationId, changed, now);
  });
}

/** Mail that was sent and answers to it know the mailbox by its address. */
async function requireSameAddress(
  tx: SqlExecutor,
  organizationId: string,
  row: MailboxRow,
  text: string,
): Promise<void> {
  const address = mailboxAddress(text);
  if (address === row.address) return;
  await holdDomainOf(tx, organizationId, address);
  throw new RefusedError(
    'The address of a mailbox cannot change: create another mailbox with it.',
    'address_fixed',
  );
}

function patched(row: MailboxRow, request: UpdateMailbox, now: number): MailboxRow {
  const { display_name, status, default_signature_id, policy_id, agent_mode } = request;
  const { settings = {}, metadata = {} } = request;
  return {
    ...row,
    ...(display_name !== undefined && { display_name: display_name || null }),
    ...(status !== undefined && { status }),
    ...(default_signature_id !== undefined && { default_signature_id }),
    ...(policy_id !== undefined && { policy_id }),
    ...(agent_mode !== undefined && { agent_mode }),
    settings: patchedSettings(settingsOf(row), settings),
    metadata: patchedMetadata(row.metadata, metadata),
    version: row.version + 1,
    updated_at: new Date(now).toISOString(),
  };
}
