import type { Document, UpdateMailboxRequest } from '@dak/contracts/mail';
import { InvalidError, RefusedError, VersionMismatchError } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import type { SqlExecutor } from '@dak/platform/postgres';
import {
  agentMode,
  documentOf,
  holdDomainOf,
  jsonObject,
  optionalUuid,
  requireDefaultSignature,
  uuids,
} from './create-mailbox';
import {
  displayName,
  mailboxAddress,
  patchedMetadata,
  patchedSettings,
  settingsOf,
} from './mailbox';
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
  { database, clock }: MailboxDeps,
  request: UpdateMailboxRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  return database.inTenant(organizationId, async (tx) => {
    await requireMailbox(tx, principal, request.id, 'send');
    await lockMailbox(tx, organizationId, request.id);
    const row = await requireMailbox(tx, principal, request.id, 'send');
    if (request.expectedVersion !== undefined && request.expectedVersion !== row.version) {
      throw new VersionMismatchError('mailbox', row.version);
    }
    const now = clock();
    const changed = patched(row, request, now);
    const fields = new Set(request.fields);
    if (fields.has('address')) {
      await requireSameAddress(tx, organizationId, row, request.address ?? '');
    }
    if (fields.has('default_signature_id')) {
      await requireDefaultSignature(tx, organizationId, changed);
    }
    await store(tx, organizationId, changed);
    const assignments: Partial<MailboxAssignments> = {};
    if (fields.has('department_ids')) {
      assignments.department_ids = uuids('department_ids', request.departmentIds);
    }
    if (fields.has('assigned_user_ids')) {
      const { users } = await selectAssignments(tx, organizationId, row.id);
      const levels = new Map(users.map((user) => [user.user_id, user.access]));
      assignments.users = uuids('assigned_user_ids', request.assignedUserIds).map((user_id) => ({
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

function patched(row: MailboxRow, request: UpdateMailboxRequest, now: number): MailboxRow {
  const next: MailboxRow = {
    ...row,
    settings: settingsOf(row),
    version: row.version + 1,
    updated_at: new Date(now).toISOString(),
  };
  for (const field of request.fields) {
    switch (field) {
      case 'display_name':
        next.display_name = displayName(request.displayName);
        break;
      case 'status':
        if (request.status !== 'active' && request.status !== 'disabled') {
          throw new InvalidError('status must be active or disabled.');
        }
        next.status = request.status;
        break;
      case 'default_signature_id':
        next.default_signature_id = optionalUuid(field, request.defaultSignatureId);
        break;
      case 'policy_id':
        next.policy_id = optionalUuid(field, request.policyId);
        break;
      case 'agent_mode':
        next.agent_mode = agentMode(request.agentMode);
        break;
      case 'settings':
        next.settings = patchedSettings(next.settings, jsonObject(field, request.settingsJson));
        break;
      case 'metadata':
        next.metadata = patchedMetadata(next.metadata, jsonObject(field, request.metadataJson));
        break;
    }
  }
  return next;
}
