import { CreateMailbox } from '@dak/contracts/api';
import type { CreateMailboxRequest, Document } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { ConflictError, InvalidError, seesWholeOrganization, uuidv7 } from '@dak/kernel';
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
  { models, clock }: MailboxDeps,
  message: CreateMailboxRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const now = clock();
  const sent = { ...requestOf(message), kind: message.kind || 'hosted' };
  const request = parseRequest(CreateMailbox, sent);
  const { department_ids = [], assigned_user_ids: userIds = [] } = request;
  const users = new Set(userIds);
  if (!seesWholeOrganization(principal)) users.add(principal.userId);
  try {
    return await models.inTenant(principal.organizationId, (tx) =>
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
          users: [...users].map((user_id) => ({ user_id, access: 'send' })),
          department_ids,
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

function newMailbox(request: CreateMailbox, address: string, now: number): MailboxRow {
  const at = new Date(now).toISOString();
  if (request.kind !== 'hosted') throw new InvalidError('kind must be hosted.');
  return {
    id: uuidv7(now),
    address,
    display_name: request.display_name || null,
    kind: request.kind,
    status: 'active',
    domain_id: null,
    default_signature_id: request.default_signature_id ?? null,
    policy_id: request.policy_id ?? null,
    agent_mode: request.agent_mode ?? 'approve',
    settings: patchedSettings(DEFAULT_MAILBOX_SETTINGS, request.settings ?? {}),
    metadata: patchedMetadata({}, request.metadata ?? {}),
    client_id: request.client_id ?? null,
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
  { address, local_part: localPart, domain_id: domainId }: CreateMailbox,
): Promise<string> {
  const domain = domainId ? await namedDomain(tx, organizationId, domainId) : null;
  if (typeof address === 'string') {
    if (typeof localPart === 'string') {
      throw new InvalidError('address and local_part exclude each other: send one of them.');
    }
    const parsed = mailboxAddress(address);
    if (domain !== null && domainOf(parsed) !== domain) {
      throw new InvalidError('domain_id names another domain than address: leave one of them out.');
    }
    return parsed;
  }
  if (typeof localPart !== 'string') {
    throw new InvalidError('address is required: name@example.org.');
  }
  const owned = domain === null ? await selectOwnedNames(tx, organizationId) : [domain];
  if (owned.length !== 1) {
    throw new InvalidError('local_part needs a domain: send domain_id, or address instead.');
  }
  return mailboxAddress(`${localPart}@${owned[0]}`);
}

async function namedDomain(tx: SqlExecutor, organizationId: string, id: string): Promise<string> {
  const domain = await selectDomain(tx, organizationId, id);
  if (domain === null) throw new InvalidError('domain_id names no domain of your organization.');
  return domain.name;
}
