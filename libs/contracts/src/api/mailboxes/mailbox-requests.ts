import { z } from 'zod';
import {
  fewMembers,
  idListShape,
  idShape,
  metadataPatch,
  timeZoneShape,
  utcTime,
} from '../../requests';
import { ACCESS_LEVELS, AGENT_MODES, MAILBOX_KINDS, MailboxSettings } from './mailbox-records';

const MAX_ASSIGNED = 1000;
const MAX_BUSINESS_HOURS = 1000;
const MAX_DISPLAY_NAME = 200;
const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;

const { business_hours, undo_seconds, auto_reply, plus_addressing } = MailboxSettings.shape;

const businessHours = business_hours.element.refine(
  ({ from, to }) => TIME_OF_DAY.test(from) && TIME_OF_DAY.test(to) && from < to,
  'must have from before to, both as HH:MM.',
);

/** A merge patch (RFC 7396): what is absent stays, null puts a setting back to its default. */
const settingsPatch = z
  .object({
    time_zone: timeZoneShape.nullable(),
    business_hours: fewMembers(MAX_BUSINESS_HOURS, z.array(businessHours)).nullable(),
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

const address = z.string().max(320);
const common = {
  // It goes into a header field: no line may be added there (RFC 5322 §2.2).
  display_name: z
    .string()
    .trim()
    .refine(
      (text) => text.length <= MAX_DISPLAY_NAME,
      `must have at most ${MAX_DISPLAY_NAME} characters.`,
    )
    .refine((text) => !/\p{Cc}/u.test(text), 'must not hold line breaks.')
    .nullable()
    .optional()
    .meta({
      description: `What recipients see as the sender; at most ${MAX_DISPLAY_NAME} characters.`,
    }),
  department_ids: idListShape(MAX_ASSIGNED).optional(),
  assigned_user_ids: idListShape(MAX_ASSIGNED).optional(),
  default_signature_id: idShape.nullable().optional(),
  policy_id: idShape.nullable().optional(),
  agent_mode: z.enum(AGENT_MODES).optional(),
  settings: settingsPatch.optional(),
  metadata: metadataPatch.optional(),
};

export const CreateMailbox = z
  .object({
    address: address.nullable().optional(),
    local_part: z
      .string()
      .max(64)
      .refine((text) => !text.includes('@'), 'must not hold an @.')
      .nullable()
      .optional()
      .meta({ description: 'The part before the @; an alternative to address.' }),
    domain_id: idShape.nullable().optional(),
    kind: z.enum(MAILBOX_KINDS).optional().meta({ default: 'hosted' }),
    client_id: z.string().min(1).max(128).nullable().optional().meta({
      description:
        'Your own ID for the mailbox: repeating the request returns the mailbox created first.',
    }),
    ...common,
  })
  .meta({ id: 'CreateMailbox' });

export const UpdateMailbox = z
  .object({
    status: z.enum(['active', 'disabled']).optional(),
    address: address.optional().meta({
      description: 'A mailbox’s address never changes; sending a different one is refused (422).',
    }),
    ...common,
  })
  .meta({ id: 'UpdateMailbox' });

export const PutAssignments = z
  .object({
    users: z
      .array(z.object({ user_id: idShape, access: z.enum(ACCESS_LEVELS) }))
      .max(MAX_ASSIGNED)
      .refine(
        (users) => new Set(users.map(({ user_id }) => user_id)).size === users.length,
        'must name each user once.',
      )
      .default([])
      .meta({ description: 'Each level includes the previous one: read, write, send.' }),
    department_ids: idListShape(MAX_ASSIGNED).default([]),
  })
  .meta({ id: 'Assignments' });

export type CreateMailbox = z.output<typeof CreateMailbox>;
export type UpdateMailbox = z.output<typeof UpdateMailbox>;
export type MailboxSettingsPatch = z.output<typeof settingsPatch>;
export type MetadataPatch = z.output<typeof metadataPatch>;
