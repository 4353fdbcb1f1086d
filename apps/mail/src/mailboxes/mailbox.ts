import type { MailboxSettings, MailboxSettingsPatch, MetadataPatch } from '@dak/contracts/api';
import { MAX_METADATA_KEYS } from '@dak/contracts/requests';
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

const ATEXT = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * An address that other hosts can write to: dot-atom local part of at most 64 octets, domain of LDH
 * labels, 254 octets in all (RFC 5321 §4.1.2, §4.5.3.1). Lower case; a domain in another script becomes
 * its A-labels (RFC 5890).
 * @throws InvalidError naming the fault
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

/** A stored row may be older than a setting. */
export function settingsOf(row: Pick<MailboxRow, 'settings'>): MailboxSettings {
  return { ...DEFAULT_MAILBOX_SETTINGS, ...row.settings };
}

/** Settings after a merge patch (RFC 7396); null puts a setting back to its default. */
export function patchedSettings(
  current: MailboxSettings,
  { auto_reply, ...patch }: MailboxSettingsPatch,
): MailboxSettings {
  const defaults = DEFAULT_MAILBOX_SETTINGS;
  return patched(current, defaults, {
    ...patch,
    auto_reply: auto_reply && patched(current.auto_reply, defaults.auto_reply, auto_reply),
  });
}

function patched<T extends object>(
  current: T,
  defaults: T,
  patch: { [Name in keyof T]?: T[Name] | null | undefined },
): T {
  const next = { ...current };
  for (const name of Object.keys(patch) as (keyof T)[]) {
    const value = patch[name];
    if (value !== undefined) next[name] = value ?? defaults[name];
  }
  return next;
}

/**
 * Metadata after a merge patch; null removes a key.
 * @throws InvalidError when there are too many keys
 */
export function patchedMetadata(
  current: MailboxRow['metadata'],
  patch: MetadataPatch,
): MailboxRow['metadata'] {
  const entries = Object.entries({ ...current, ...patch });
  const kept = entries.filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== null,
  );
  if (kept.length > MAX_METADATA_KEYS) {
    throw new InvalidError(`metadata must have at most ${MAX_METADATA_KEYS} keys.`);
  }
  return Object.fromEntries(kept);
}
