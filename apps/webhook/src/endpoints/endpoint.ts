import { EVENT_KINDS } from '@dak/contracts/events';
import { InvalidError } from '@dak/kernel';
import { judgeUrl, type Allowance } from '@dak/platform/guarded-http';

/** Of an organization. */
export const MAX_ENDPOINTS = 50;
const MAX_MAILBOXES = 200;
const MAX_HEADERS = 20;
const MAX_HEADER_CHARACTERS = 4_096;
const MAX_DESCRIPTION = 500;

/** What people set. */
export interface EndpointSettings {
  url: string;
  description: string;
  eventTypes: readonly string[];
  mailboxIds: readonly string[];
  ordering: string;
  headers: Readonly<Record<string, string>>;
  enabled: boolean;
  ratePerSecond: number | null;
  maxConcurrency: number | null;
  timeoutMs: number | null;
}

const LIMITS = [
  { field: 'rate_per_second', key: 'ratePerSecond', least: 1, most: 5_000 },
  { field: 'max_concurrency', key: 'maxConcurrency', least: 1, most: 128 },
  { field: 'timeout_ms', key: 'timeoutMs', least: 1_000, most: 30_000 },
] as const;

/** Names that the request itself, Standard Webhooks or a proxy on the way decides about. */
const RESERVED_HEADER =
  /^(?:host|content-.*|webhook-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|accept|accept-encoding|user-agent|sec-.*)$/i;
/** RFC 9110 §5.6.2 token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** RFC 9110 §5.5, without obs-text. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/** @throws InvalidError naming the field and the fix */
export function checkSettings(settings: Partial<EndpointSettings>, allowance: Allowance): void {
  const { url, description, eventTypes, mailboxIds, ordering, headers } = settings;
  if (url !== undefined) {
    const judgment = judgeUrl(url, allowance);
    if (!judgment.allowed) throw new InvalidError(`url ${judgment.reason}.`, judgment.code);
  }
  if (description !== undefined && description.length > MAX_DESCRIPTION) {
    throw new InvalidError(`description must have at most ${MAX_DESCRIPTION} characters.`);
  }
  const unknown = eventTypes?.find((type) => !(EVENT_KINDS as readonly string[]).includes(type));
  if (unknown !== undefined) {
    throw new InvalidError(
      `event_types has "${unknown}", which is no event type: use ${EVENT_KINDS.join(', ')}.`,
    );
  }
  if (mailboxIds !== undefined && mailboxIds.length > MAX_MAILBOXES) {
    throw new InvalidError(`mailbox_ids must have at most ${MAX_MAILBOXES} entries.`);
  }
  if (ordering !== undefined && ordering !== 'none' && ordering !== 'conversation') {
    throw new InvalidError('ordering must be none or conversation.');
  }
  if (headers !== undefined) checkHeaders(headers);
  for (const { field, key, least, most } of LIMITS) {
    const value = settings[key];
    if (value !== undefined && value !== null && (value < least || value > most)) {
      throw new InvalidError(`${field} must be an integer from ${least} to ${most}.`);
    }
  }
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) {
    throw new InvalidError(`headers must have at most ${MAX_HEADERS} entries.`);
  }
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name)) {
      throw new InvalidError(`headers has "${name}", which is no name of an HTTP header.`);
    }
    if (RESERVED_HEADER.test(name)) {
      throw new InvalidError(`headers must not set ${name}: it is set with every request.`);
    }
    if (seen.has(name.toLowerCase())) throw new InvalidError(`headers has ${name} twice.`);
    seen.add(name.toLowerCase());
    if (value.length > MAX_HEADER_CHARACTERS || !HEADER_VALUE.test(value)) {
      throw new InvalidError(
        `headers.${name} must be 1 to ${MAX_HEADER_CHARACTERS} printable ASCII characters.`,
      );
    }
  }
}
