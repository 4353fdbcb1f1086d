import {
  DISPOSITIONS,
  PRIORITIES,
  RULE_ACTION_TYPES,
  type RuleActionType,
} from '@dak/contracts/api';
import { InvalidError, isUuid } from '@dak/kernel';
import { labelName, MAX_LABELS } from '../../conversations/label-name';
import { formatRecipient, parseRecipient } from '../../sending/submissions/recipient';
import { jsonList, membersOf } from './json-members';
import { MAX_ACTIONS, type Action } from './rule';

const MAX_FORWARD_RECIPIENTS = 10;
const MAX_SNOOZE_MINUTES = 366 * 24 * 60;
const MAX_VARIABLES = 64;
const MAX_VARIABLES_BYTES = 16 * 1024;
/** What a caller may set by hand; snoozing and closing have their own ways. */
const STATUSES = ['open', 'pending', 'waiting', 'resolved'] as const;

const MAX_VERSION = 2_000_000_000;

/** Their members besides `type`. */
const MEMBERS: Readonly<Record<RuleActionType, readonly string[]>> = {
  add_labels: ['labels'],
  remove_labels: ['labels'],
  assign: ['user_id', 'user_name'],
  set_department: ['department_id'],
  set_status: ['status'],
  set_priority: ['priority'],
  snooze: ['minutes', 'until'],
  set_disposition: ['disposition'],
  forward: ['to'],
  reply_with_template: ['template_id', 'template_version', 'variables'],
  notify_webhook: ['webhook_id'],
};

/** @throws InvalidError naming `actions[0].labels` and the like */
export function parseActions(json: Uint8Array, now: number): Action[] {
  const list = jsonList('actions', json);
  if (list.length === 0 || list.length > MAX_ACTIONS) {
    throw new InvalidError(`actions must have 1 to ${MAX_ACTIONS} elements.`);
  }
  return list.map((item, index) => parseAction(`actions[${index}]`, item, now));
}

function parseAction(at: string, item: unknown, now: number): Action {
  const type = RULE_ACTION_TYPES.find(
    (known) => known === (item as { type?: unknown } | null | undefined)?.type,
  );
  if (type === undefined) {
    throw new InvalidError(`${at}.type must be one of ${RULE_ACTION_TYPES.join(', ')}.`);
  }
  const given = membersOf(at, item, ['type', ...MEMBERS[type]]);
  switch (type) {
    case 'add_labels':
    case 'remove_labels':
      return { type, labels: labelsOf(`${at}.labels`, given['labels']) };
    case 'assign':
      return {
        type,
        user_id: uuidOf(`${at}.user_id`, given['user_id']),
        user_name: typeof given['user_name'] === 'string' ? given['user_name'].slice(0, 256) : '',
      };
    case 'set_department':
      return {
        type,
        department_id:
          given['department_id'] === null
            ? null
            : uuidOf(`${at}.department_id`, given['department_id']),
      };
    case 'set_status':
      return { type, status: oneOf(`${at}.status`, STATUSES, given['status']) };
    case 'set_priority':
      return { type, priority: oneOf(`${at}.priority`, PRIORITIES, given['priority']) };
    case 'set_disposition':
      return { type, disposition: oneOf(`${at}.disposition`, DISPOSITIONS, given['disposition']) };
    case 'snooze':
      return snoozeOf(at, given, now);
    case 'forward':
      return { type, to: recipientsOf(`${at}.to`, given['to']) };
    case 'reply_with_template':
      return {
        type,
        template_id: uuidOf(`${at}.template_id`, given['template_id']),
        ...versionOf(`${at}.template_version`, given['template_version'] ?? null),
        variables: variablesOf(`${at}.variables`, given['variables'] ?? {}),
      };
    case 'notify_webhook':
      return { type, webhook_id: uuidOf(`${at}.webhook_id`, given['webhook_id']) };
  }
}

function snoozeOf(at: string, given: Readonly<Record<string, unknown>>, now: number): Action {
  const minutes = given['minutes'] ?? null;
  const until = given['until'] ?? null;
  if ((minutes === null) === (until === null)) {
    throw new InvalidError(`${at} must have either minutes or until.`);
  }
  if (minutes !== null) {
    const isValid =
      typeof minutes === 'number' &&
      Number.isInteger(minutes) &&
      minutes >= 1 &&
      minutes <= MAX_SNOOZE_MINUTES;
    if (!isValid) {
      throw new InvalidError(`${at}.minutes must be an integer from 1 to ${MAX_SNOOZE_MINUTES}.`);
    }
    return { type: 'snooze', minutes };
  }
  const time = typeof until === 'string' ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(time) || time <= now || time - now > MAX_SNOOZE_MINUTES * 60_000) {
    throw new InvalidError(
      `${at}.until must be an RFC 3339 date-time in the future, at most 366 days ahead.`,
    );
  }
  return { type: 'snooze', until: new Date(time).toISOString() };
}

function labelsOf(at: string, value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LABELS) {
    throw new InvalidError(`${at} must be a list of 1 to ${MAX_LABELS} labels.`);
  }
  return [
    ...new Set(
      value.map((label, index) =>
        labelName(`${at}[${index}]`, typeof label === 'string' ? label : ''),
      ),
    ),
  ];
}

function recipientsOf(at: string, value: unknown): string[] {
  const list: unknown[] = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  if (list.length === 0 || list.length > MAX_FORWARD_RECIPIENTS) {
    throw new InvalidError(
      `${at} must be an address or a list of 1 to ${MAX_FORWARD_RECIPIENTS} addresses.`,
    );
  }
  return list.map((one, index) =>
    formatRecipient(parseRecipient(typeof one === 'string' ? one : '', `${at}[${index}]`)),
  );
}

function variablesOf(at: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidError(`${at} must be an object.`);
  }
  if (Object.keys(value).length > MAX_VARIABLES) {
    throw new InvalidError(`${at} must have at most ${MAX_VARIABLES} members.`);
  }
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_VARIABLES_BYTES) {
    throw new InvalidError(`${at} must have at most ${MAX_VARIABLES_BYTES} bytes.`);
  }
  return value as Record<string, unknown>;
}

/** Absent: the newest when the rule is saved. */
function versionOf(at: string, value: unknown): { template_version?: number } {
  if (value === null) return {};
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > MAX_VERSION) {
    throw new InvalidError(`${at} must be the number of a version, or be left out.`);
  }
  return { template_version: Number(value) };
}

function uuidOf(at: string, value: unknown): string {
  if (!isUuid(value)) throw new InvalidError(`${at} must be a UUID.`);
  return value.toLowerCase();
}

function oneOf<T extends string>(at: string, known: readonly T[], value: unknown): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw new InvalidError(`${at} must be one of ${known.join(', ')}.`);
  return found;
}
