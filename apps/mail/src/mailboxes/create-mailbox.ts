import type { CreateMailboxRequest, Document } from '@dak/contracts/mail';
import { AGENT_MODES } from '@dak/contracts/api';
import { ConflictError, InvalidError, isUuid, seesWholeOrganization, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import { isUniqueViolation, type SqlExecutor } from '@dak/platform/postgres';
import { domainNotOwned } from '../domains/domain';
import { domainOf } from '../domains/domain-name';
import { holdOwnedDomain, selectDomain, selectOwnedNames } from '../domains/domain-store';
import {
  DEFAULT_MAILBOX_SETTINGS,
  displayName,
  mailboxAddress,
  patchedMetadata,
  patchedSettings,
  RESTORE_DAYS,
} from './mailbox';
import type { MailboxDeps } from './mailbox-deps';
import { mailboxRecords } from './mailbox-records';
import type { MailboxRow } from './mailbox-row';
import {
  hasSignature,
  insertMailbox,
  isReserved,
  replaceAssignments,
  selectByClientId,
} from './mailbox-store';

/**
 * Makes a mailbox. With a client_id that was used before, the mailbox it made is the answer. A caller
 * who does not see the whole organization is assigned to it.
 * @throws RefusedError `domain_not_owned` when the address is in no verified domain of the organization
 * @throws ConflictError `address_taken`, or `address_reserved` while a deleted mailbox can be restored to it
 */
export async function createMailbox(
  { database, clock }: MailboxDeps,
  request: CreateMailboxRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const now = clock();
  const departmentIds = uuids('department_ids', request.departmentIds);
  const userIds = new Set(uuids('assigned_user_ids', request.assignedUserIds));
  if (!seesWholeOrganization(principal)) userIds.add(principal.userId);
  try {
    return await database.inTenant(principal.organizationId, (tx) =>
      idempotent(tx, context, async () => {
        const { organizationId } = principal;
        const address = await requestedAddress(tx, organizationId, request);
        const row = newMailbox(request, address, now);
        if (row.client_id !== null) {
          const made = await selectByClientId(tx, principal, row.client_id);
          if (made?.is_open === false) throw clientIdTaken();
          if (made) return documentOf(tx, principal.organizationId, made, now);
        }
        row.domain_id = await holdDomainOf(tx, organizationId, address);
        if (await isReserved(tx, organizationId, address)) throw addressReserved();
        await requireDefaultSignature(tx, principal.organizationId, row);
        await insertMailbox(tx, principal.organizationId, row);
        await replaceAssignments(tx, principal.organizationId, row.id, {
          users: [...userIds].map((user_id) => ({ user_id, access: 'send' })),
          department_ids: departmentIds,
        });
        await noteAudit(tx, context, {
          action: 'mailbox.created',
          target: { type: 'mailbox', id: row.id },
          details: { address: row.address },
        });
        return documentOf(tx, principal.organizationId, row, now);
      }),
    );
  } catch (error) {
    if (isUniqueViolation(error, 'mailbox_live_address')) throw addressTaken();
    if (isUniqueViolation(error, 'mailbox_client_id')) throw clientIdTaken();
    throw error;
  }
}

export function addressTaken(): ConflictError {
  return new ConflictError('address is already in use: choose another one.', 'address_taken');
}

function addressReserved(): ConflictError {
  return new ConflictError(
    `address belongs to a mailbox that was deleted in the last ${RESTORE_DAYS} days: restore it, or choose another one.`,
    'address_reserved',
  );
}

/**
 * The id of the domain of an address, which stays the organization's until the transaction ends.
 * @throws RefusedError `domain_not_owned`
 */
export async function holdDomainOf(
  tx: SqlExecutor,
  organizationId: string,
  address: string,
): Promise<string> {
  const name = domainOf(address);
  const domain = await holdOwnedDomain(tx, organizationId, name);
  if (domain === null) throw domainNotOwned(name);
  return domain.id;
}

function clientIdTaken(): ConflictError {
  return new ConflictError(
    'client_id was used for another mailbox: choose another one.',
    'client_id_taken',
  );
}

/** @throws InvalidError when the default signature does not exist or belongs to another mailbox */
export async function requireDefaultSignature(
  tx: SqlExecutor,
  organizationId: string,
  { id, default_signature_id: signatureId }: MailboxRow,
): Promise<void> {
  if (signatureId === null || (await hasSignature(tx, organizationId, id, signatureId))) return;
  throw new InvalidError(
    'default_signature_id names no signature of this mailbox: GET /signatures lists them.',
    'unknown_signature',
  );
}

export async function documentOf(
  tx: SqlExecutor,
  organizationId: string,
  row: MailboxRow,
  now: number,
): Promise<Document> {
  const [record] = await mailboxRecords(tx, organizationId, [row], now);
  return { id: row.id, version: row.version, json: jsonBytes(record), replayed: false };
}

function newMailbox(request: CreateMailboxRequest, address: string, now: number): MailboxRow {
  const at = new Date(now).toISOString();
  if (request.kind !== '' && request.kind !== 'hosted') {
    throw new InvalidError('kind must be hosted.');
  }
  return {
    id: uuidv7(now),
    address,
    display_name: displayName(request.displayName),
    kind: 'hosted',
    status: 'active',
    domain_id: null,
    default_signature_id: optionalUuid('default_signature_id', request.defaultSignatureId),
    policy_id: optionalUuid('policy_id', request.policyId),
    agent_mode: agentMode(request.agentMode),
    settings: patchedSettings(
      DEFAULT_MAILBOX_SETTINGS,
      jsonObject('settings', request.settingsJson),
    ),
    metadata: patchedMetadata({}, jsonObject('metadata', request.metadataJson)),
    client_id: clientId(request.clientId),
    version: 1,
    created_at: at,
    updated_at: at,
    deleted_at: null,
  };
}

/** `domain_id` may be left out where the organization has one domain. */
async function requestedAddress(
  tx: SqlExecutor,
  organizationId: string,
  request: CreateMailboxRequest,
): Promise<string> {
  const domain =
    request.domainId === undefined ? null : await namedDomain(tx, organizationId, request.domainId);
  if (request.address !== undefined) {
    if (request.localPart !== undefined) {
      throw new InvalidError('address and local_part exclude each other: send one of them.');
    }
    const address = mailboxAddress(request.address);
    if (domain !== null && domainOf(address) !== domain) {
      throw new InvalidError('domain_id names another domain than address: leave one of them out.');
    }
    return address;
  }
  if (request.localPart === undefined) {
    throw new InvalidError('address is required: name@example.org.');
  }
  if (request.localPart.includes('@')) throw new InvalidError('local_part must not hold an @.');
  const owned = domain === null ? await selectOwnedNames(tx, organizationId) : [domain];
  if (owned.length !== 1) {
    throw new InvalidError('local_part needs a domain: send domain_id, or address instead.');
  }
  return mailboxAddress(`${request.localPart}@${owned[0]}`);
}

async function namedDomain(tx: SqlExecutor, organizationId: string, id: string): Promise<string> {
  const domain = isUuid(id) ? await selectDomain(tx, organizationId, id) : null;
  if (domain === null) throw new InvalidError('domain_id names no domain of your organization.');
  return domain.name;
}

function clientId(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text === '' || text.length > 128) {
    throw new InvalidError('client_id must have 1 to 128 characters.');
  }
  return text;
}

export function agentMode(text: string | undefined): MailboxRow['agent_mode'] {
  if (text === undefined) return 'approve';
  const mode = AGENT_MODES.find((name) => name === text);
  if (mode === undefined)
    throw new InvalidError(`agent_mode must be one of ${AGENT_MODES.join(', ')}.`);
  return mode;
}

export function optionalUuid(field: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!isUuid(text)) throw new InvalidError(`${field} must be a UUID.`);
  return text;
}

export function uuids(field: string, texts: readonly string[]): string[] {
  if (texts.length > 1000) throw new InvalidError(`${field} must have at most 1000 entries.`);
  if (!texts.every((text) => isUuid(text))) throw new InvalidError(`${field} must hold UUIDs.`);
  return [...new Set(texts.map((text) => text.toLowerCase()))];
}

/** Empty bytes are an empty object. */
export function jsonObject(field: string, bytes: Uint8Array): object {
  if (bytes.length === 0) return {};
  const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidError(`${field} must be an object.`);
  }
  return value;
}
