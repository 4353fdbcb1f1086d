import { z } from 'zod';
import { agreesOnSendAt, ONE_SEND_AT, oneSendAt, sendAtFields } from '../submissions/send-time';

/** Without a time the mail is sent now. */
export const MoveOutboxEntry = z
  .object(sendAtFields)
  .refine(agreesOnSendAt, ONE_SEND_AT)
  .overwrite(oneSendAt);
