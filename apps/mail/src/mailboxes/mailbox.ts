import { MailboxSettings } from '@dak/contracts/api';
import { InvalidError } from '@dak/kernel';
import { asciiDomain } from '../domains/domain-name';
import type { MailboxRow } from './mailbox-row';

export const DEFAULT_MAILBOX_SETTINGS: MailboxSettings = {
  time_zone: 'UTC',
  business_hours: [],
  undo_seconds: 10,
  auto_reply: { enabled: false, start_at: null, end_at: null, subject: '', body_text: '' },
  plus_addressing: true,
  sync_from: null,
};

/** Days in which a deleted mailbox can be restored. */
export const RESTORE_DAYS = 30;
const MAX_METADATA_KEYS = 64;
const MAX_DISPLAY_NAME = 200;

const ATEXT = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * An address that other hosts can write to: dot-atom local part of at most 64 octets, domain of LDH
 * labels, 254 octets in all (RFC 5321 §4.1.2, §4.5.3.1). Lower case; a domain in another script becomes
 * its A-labels (RFC 5890).
 * @throws InvalidError naming what is wrong
 */
export function mailboxAddress(text: string): string {
  const at = text.lastIndexOf('@');
  if (at <= 0) throw new InvalidError('address must look like name@example.org.');
  const local = text.slice(0, at).toLowerCase();
  const domain = asciiDomain(text.slice(at + 1));
  if (local.length > 64 || !ATEXT.test(local)) {
    throw new InvalidError(
      'address must have a local part of letters, digits and the signs of RFC 5321, at most 64 characters.',
    );
  }
  if (domain === null) {
    throw new InvalidError('address must have a domain name after the @.');
  }
  const address = `${local}@${domain}`;
  if (address.length > 254) throw new InvalidError('address must have at most 254 characters.');
  return address;
}

/** What is stored may be older than a setting. */
export function settingsOf(row: Pick<MailboxRow, 'settings'>): MailboxSettings {
  return { ...DEFAULT_MAILBOX_SETTINGS, ...row.settings };
}

/**
 * Settings after a merge patch (RFC 7396); null puts a setting back to its default.
 * @throws InvalidError naming the setting
 */
export function patchedSettings(current: MailboxSettings, patch: unknown): MailboxSettings {
  const merged = { ...DEFAULT_MAILBOX_SETTINGS, ...(mergePatch(current, patch) as object) };
  const parsed = MailboxSettings.safeParse(merged);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new InvalidError(
      `settings.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}.`,
    );
  }
  if (!isTimeZone(parsed.data.time_zone)) {
    throw new InvalidError('settings.time_zone must be an IANA time zone such as Asia/Kolkata.');
  }
  for (const [index, { from, to }] of parsed.data.business_hours.entries()) {
    if (!isTimeOfDay(from) || !isTimeOfDay(to) || from >= to) {
      throw new InvalidError(
        `settings.business_hours.${index} must have from before to, both as HH:MM.`,
      );
    }
  }
  return parsed.data;
}

/**
 * Metadata after a merge patch; null removes a key.
 * @throws InvalidError when a value is not a string, number or boolean, or there are too many keys
 */
export function patchedMetadata(
  current: MailboxRow['metadata'],
  patch: unknown,
): MailboxRow['metadata'] {
  const merged = mergePatch(current, patch);
  if (!isObject(merged)) throw new InvalidError('metadata must be an object.');
  const entries = Object.entries(merged);
  if (entries.length > MAX_METADATA_KEYS) {
    throw new InvalidError(`metadata must have at most ${MAX_METADATA_KEYS} keys.`);
  }
  for (const [key, value] of entries) {
    if (key.length > 128)
      throw new InvalidError('metadata must have keys of at most 128 characters.');
    const isScalar = typeof value === 'number' || typeof value === 'boolean';
    if (!isScalar && (typeof value !== 'string' || value.length > 2000)) {
      throw new InvalidError(
        `metadata.${key} must be a number, a boolean or a string of at most 2000 characters.`,
      );
    }
  }
  return merged as MailboxRow['metadata'];
}

/** @throws InvalidError */
export function displayName(text: string | undefined): string | null {
  if (text === undefined) return null;
  const name = text.trim();
  // It goes into a header field: no line may be added there (RFC 5322 §2.2).
  if (/\p{Cc}/u.test(name)) throw new InvalidError('display_name must not hold line breaks.');
  if (name.length > MAX_DISPLAY_NAME) {
    throw new InvalidError(`display_name must have at most ${MAX_DISPLAY_NAME} characters.`);
  }
  return name === '' ? null : name;
}

/** RFC 7396. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === '__proto__') continue;
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function isTimeOfDay(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(text);
}
