import { z } from 'zod';
import { AGENT_MODES, MAILBOX_KINDS, MailboxSettings } from '@dak/contracts/api';
import {
  CreateMailboxRequest,
  PutAssignmentsRequest,
  UpdateMailboxRequest,
} from '@dak/contracts/mail';
import { jsonField, metadataPatch, sentFields, utcTime } from '@dak/contracts/requests';

const idList = z.array(z.uuid()).max(1000);

const { time_zone, business_hours, undo_seconds, auto_reply, plus_addressing } =
  MailboxSettings.shape;

/** A merge patch (RFC 7396): what is absent stays, null puts a setting back to its default. */
const settingsPatch = z
  .object({
    time_zone: time_zone.nullable(),
    business_hours: business_hours.nullable(),
    undo_seconds: undo_seconds.nullable(),
    auto_reply: auto_reply
      .extend({ start_at: utcTime.nullable(), end_at: utcTime.nullable() })
      .partial()
      .nullable(),
    plus_addressing: plus_addressing.nullable(),
    sync_from: utcTime.nullable(),
  })
  .partial()
  .meta({ id: 'MailboxSettingsPatch' });

const common = {
  display_name: z.string().nullable().optional().meta({
    description: 'What recipients see as the sender; at most 200 characters.',
  }),
  department_ids: idList.optional(),
  assigned_user_ids: idList.optional(),
  default_signature_id: z.uuid().nullable().optional(),
  policy_id: z.uuid().nullable().optional(),
  agent_mode: z.enum(AGENT_MODES).optional(),
  settings: settingsPatch.optional(),
  metadata: metadataPatch.optional(),
};

export const createMailboxBody = z
  .object({
    address: z.string().max(320).nullable().optional(),
    local_part: z.string().max(64).nullable().optional().meta({
      description: 'Instead of address: the part before the @.',
    }),
    domain_id: z.uuid().nullable().optional(),
    kind: z.enum(MAILBOX_KINDS).optional().meta({ default: 'hosted' }),
    client_id: z.string().min(1).max(128).nullable().optional().meta({
      description: 'Your own id of it: repeating the request answers the mailbox made first.',
    }),
    ...common,
  })
  .meta({ id: 'CreateMailbox' });

export const updateMailboxBody = z
  .object({
    status: z.enum(['active', 'disabled']).optional(),
    address: z.string().max(320).optional().meta({
      description: 'An address is for good: another one than the mailbox has is refused (422).',
    }),
    ...common,
  })
  .meta({ id: 'UpdateMailbox' });

export const assignmentsBody = z
  .object({
    users: z
      .array(z.object({ user_id: z.uuid(), access: z.enum(['read', 'write', 'send']) }))
      .max(1000)
      .default([])
      .meta({ description: 'Each access includes the one before: read, write, send.' }),
    department_ids: idList.default([]),
  })
  .meta({ id: 'Assignments' });

export function toCreateMailbox(body: z.output<typeof createMailboxBody>): CreateMailboxRequest {
  return CreateMailboxRequest.fromPartial({
    ...commonFields(body),
    address: body.address ?? undefined,
    localPart: body.local_part ?? undefined,
    domainId: body.domain_id ?? undefined,
    kind: body.kind ?? 'hosted',
    clientId: body.client_id ?? undefined,
  });
}

export function toUpdateMailbox(
  id: string,
  expectedVersion: number | null,
  body: z.output<typeof updateMailboxBody>,
): UpdateMailboxRequest {
  return UpdateMailboxRequest.fromPartial({
    ...commonFields(body),
    id,
    expectedVersion: expectedVersion ?? undefined,
    fields: sentFields(updateMailboxBody.shape, body),
    status: body.status,
    address: body.address,
  });
}

export function toPutAssignments(
  mailboxId: string,
  body: z.output<typeof assignmentsBody>,
): PutAssignmentsRequest {
  return PutAssignmentsRequest.fromPartial({
    mailboxId,
    users: body.users.map(({ user_id: userId, access }) => ({ userId, access })),
    departmentIds: body.department_ids,
  });
}

function commonFields(body: Omit<z.output<typeof updateMailboxBody>, 'address'>) {
  return {
    displayName: body.display_name ?? undefined,
    departmentIds: body.department_ids ?? [],
    assignedUserIds: body.assigned_user_ids ?? [],
    defaultSignatureId: body.default_signature_id ?? undefined,
    policyId: body.policy_id ?? undefined,
    agentMode: body.agent_mode,
    settingsJson: jsonField(body.settings),
    metadataJson: jsonField(body.metadata),
  };
}
