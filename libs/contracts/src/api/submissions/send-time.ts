import { z } from 'zod';
import { closedShape, fewMembers, timeZoneShape, utcTime } from '../../requests';
import { WEEKDAYS } from '../record-shapes';

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time as HH:MM.');

export const sendWindowShape = closedShape({
  time_zone: timeZoneShape,
  days: fewMembers(200, z.array(z.enum(WEEKDAYS)).min(1)),
  from: clockTime,
  to: clockTime,
});

/** `send_at` under each of its names; {@link oneSendAt} leaves the first. */
export const sendAtFields = {
  send_at: utcTime.nullish().meta({
    description: 'When to send, 1 minute to 180 days from now; null sends now.',
  }),
  scheduled_at: utcTime.nullish().meta({ description: 'Same as send_at.' }),
  scheduled_for: utcTime.nullish().meta({ description: 'Same as send_at.' }),
};

type SendAt = z.output<z.ZodObject<typeof sendAtFields>>;

export const ONE_SEND_AT =
  'Send only send_at: scheduled_at and scheduled_for are other names of it, and they disagree.';

/** Whether all names that were given say the same time. */
export function agreesOnSendAt(body: SendAt): boolean {
  return new Set(timesOf(body)).size < 2;
}

/** The body with its time as `send_at`, null or absent as it was sent. */
export function oneSendAt<Body extends SendAt>(body: Body): Body {
  const { scheduled_at, scheduled_for, ...rest } = body;
  if (scheduled_at === undefined && scheduled_for === undefined) return body;
  return { ...rest, send_at: timesOf(body)[0] ?? null } as Body;
}

function timesOf({ send_at, scheduled_at, scheduled_for }: SendAt): string[] {
  return [send_at, scheduled_at, scheduled_for].filter((time) => typeof time === 'string');
}

export type SendWindowFields = z.output<typeof sendWindowShape>;
