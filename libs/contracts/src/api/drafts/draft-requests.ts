import type { z } from 'zod';
import { unfinishedRecipientList } from '../submissions/recipient';
import { subjectShape } from '../submissions/subject';
import { SUBMISSION_LIMITS } from '../submissions/submission-limits';
import {
  contentFields,
  hasOneOrigin,
  mailShape,
  ONE_ORIGIN,
  originFields,
  replyFields,
} from '../submissions/submission-requests';

const addresses = unfinishedRecipientList(SUBMISSION_LIMITS.recipients_per_message).optional();

/** A mail or an answer that may still lack what it needs to be sent. */
const { conversation_id, ...changeable } = {
  ...originFields,
  to: addresses.meta({ description: 'In an answer only with reply_mode "custom".' }),
  cc: addresses,
  bcc: addresses,
  subject: subjectShape.optional(),
  ...replyFields,
  ...contentFields,
};

export const CreateDraft = mailShape({ conversation_id, ...changeable }).refine(
  hasOneOrigin,
  ONE_ORIGIN,
);
export const UpdateDraft = mailShape(changeable);

export type UpdateDraft = z.output<typeof UpdateDraft>;
