import { DomainError, InvalidError, isUuid, RefusedError } from '@dak/kernel';
import type { ConversationRecord } from '@dak/contracts/api';
import type { Content } from '@dak/contracts/mail';
import { labelName, MAX_LABELS } from '../../conversations/label-name';
import { storableText } from '../../db/sql-parameters';
import { SIGNATURE_POSITIONS, type SignaturePosition } from './assemble-body';
import { parseRecipient, type Recipient } from './recipient';
import { MAX_RECIPIENTS } from './recipient-lists';
import type { SendTimeRequest } from './send-time';
import { parseSendWindow } from './send-window';

export const MAX_BODY_BYTES = 2 * 1024 * 1024;
export const MAX_FILES = 20;
const MAX_VARIABLES_BYTES = 256 * 1024;
const MAX_METADATA_KEYS = 64;

export type SignatureChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'none' }
  | { readonly kind: 'chosen'; readonly id: string };

/** What compose, reply and forward have in common, checked. */
export interface SubmissionContent {
  readonly bodyText: string | null;
  readonly bodyHtml: string | null;
  /** Makes the bodies, which are absent then. */
  readonly templateId: string | null;
  readonly templateVariables: Readonly<Record<string, unknown>> | null;
  readonly attachmentTokens: readonly string[];
  readonly sendTime: SendTimeRequest;
  readonly cancelIfReply: boolean;
  readonly signature: SignatureChoice;
  readonly signaturePosition: SignaturePosition;
  readonly replyTo: readonly Recipient[];
  readonly labels: readonly string[];
  readonly metadata: ConversationRecord['metadata'];
  readonly runId: string | null;
}

/**
 * @throws InvalidError naming the field
 * @throws RefusedError for what this deployment cannot do and must not silently leave undone
 * @throws DomainError `too_large`
 */
export function parseContent(content: Content): SubmissionContent {
  if (content.encrypt) {
    throw new RefusedError(
      'encrypt cannot be honored: no key of the recipients is known here. Leave it out to send without encryption.',
      'encryption_unavailable',
    );
  }
  if (content.requireApproval) {
    throw new RefusedError(
      'require_approval cannot be honored: there is no approval queue here. Create a draft instead.',
      'approval_unavailable',
    );
  }
  if (content.attachmentTokens.length > MAX_FILES) {
    throw new InvalidError(
      `attachment_tokens names ${content.attachmentTokens.length} files; at most ${MAX_FILES} are allowed.`,
    );
  }
  const { templateId } = content;
  if (templateId !== undefined) {
    if (!isUuid(templateId)) throw new InvalidError('template_id must be a UUID.');
    assertNoBodies(templateId, content.bodyText, content.bodyHtml);
  }
  if (content.replyTo.length > MAX_RECIPIENTS) {
    throw new InvalidError(`reply_to must not name more than ${MAX_RECIPIENTS} addresses.`);
  }
  return {
    bodyText: parseBody(content.bodyText, 'body_text'),
    bodyHtml: parseBody(content.bodyHtml, 'body_html'),
    templateId: templateId ?? null,
    templateVariables: parseTemplateVariables(content.templateVariablesJson),
    attachmentTokens: [...new Set(content.attachmentTokens)],
    sendTime: {
      sendAt: content.sendAt ?? null,
      window: content.sendWindow === undefined ? null : parseSendWindow(content.sendWindow),
      undoSeconds: content.undoSeconds ?? null,
    },
    cancelIfReply: content.cancelIfReply,
    signature: parseSignature(content),
    signaturePosition: parsePosition(content.signaturePosition),
    replyTo: content.replyTo.map((text, index) => parseRecipient(text, `reply_to[${index}]`)),
    labels: parseLabels(content.labels),
    metadata: parseMetadata(content.metadataJson),
    runId: parseRunId(content.onBehalfOfRunId),
  };
}

/**
 * Refuses mail with nothing in it, which is a mistake of the caller.
 * @param subject of a new mail; absent for an answer, whose subject says nothing new
 * @throws InvalidError
 */
export function assertNotEmpty(content: SubmissionContent, subject = ''): void {
  const { bodyText, bodyHtml, attachmentTokens } = content;
  if (attachmentTokens.length > 0 || content.templateId !== null) return;
  if ([bodyText, bodyHtml, subject].some((text) => text !== null && text.trim() !== '')) return;
  throw new InvalidError(
    'body_text is missing: write something in body_text or body_html, or attach a file.',
    'empty_mail',
  );
}

/** @throws InvalidError when there are both a template and a text of the caller's */
export function assertNoBodies(
  templateId: string | null,
  bodyText: string | null | undefined,
  bodyHtml: string | null | undefined,
): void {
  if (templateId === null) return;
  for (const [field, body] of [
    ['body_text', bodyText],
    ['body_html', bodyHtml],
  ] as const) {
    if (body === undefined || body === null) continue;
    throw new InvalidError(
      `template_id and ${field} exclude each other: the template makes the text. Leave one of them out.`,
    );
  }
}

function parseBody(body: string | undefined, field: string): string | null {
  if (body === undefined) return null;
  if (body.length > MAX_BODY_BYTES || Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new DomainError(
      'too_large',
      'body_too_large',
      `${field} is larger than ${MAX_BODY_BYTES} bytes. Attach long content as a file.`,
    );
  }
  return storableText(body);
}

function parseSignature(content: Content): SignatureChoice {
  if (!content.setsSignature) return { kind: 'default' };
  if (content.signatureId === undefined) return { kind: 'none' };
  if (!isUuid(content.signatureId)) throw new InvalidError('signature_id must be a UUID or null.');
  return { kind: 'chosen', id: content.signatureId };
}

function parsePosition(position: string | undefined): SignaturePosition {
  if (position === undefined) return 'above_quote';
  const known = SIGNATURE_POSITIONS.find((name) => name === position);
  if (known === undefined) {
    throw new InvalidError(`signature_position must be one of ${SIGNATURE_POSITIONS.join(', ')}.`);
  }
  return known;
}

function parseLabels(labels: readonly string[]): string[] {
  if (labels.length > MAX_LABELS) {
    throw new InvalidError(`labels must not name more than ${MAX_LABELS} labels.`);
  }
  return [...new Set(labels.map((label) => labelName('labels', label)))];
}

function parseMetadata(json: Uint8Array): ConversationRecord['metadata'] {
  if (json.length === 0) return {};
  const sentence =
    'metadata must be a JSON object of at most 64 keys whose values are strings, numbers or booleans.';
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(json).toString('utf8'));
  } catch {
    throw new InvalidError(sentence);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new InvalidError(sentence);
  const entries = Object.entries(parsed);
  const isScalar = (value: unknown): value is string | number | boolean =>
    ['string', 'number', 'boolean'].includes(typeof value);
  if (entries.length > MAX_METADATA_KEYS || !entries.every(([, value]) => isScalar(value))) {
    throw new InvalidError(sentence);
  }
  return Object.fromEntries(entries);
}

function parseTemplateVariables(json: Uint8Array): Readonly<Record<string, unknown>> | null {
  if (json.length === 0) return null;
  if (json.length > MAX_VARIABLES_BYTES) {
    throw new DomainError(
      'too_large',
      'body_too_large',
      `template_variables is larger than ${MAX_VARIABLES_BYTES} bytes. Attach long content as a file.`,
    );
  }
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(Buffer.from(json).toString('utf8'));
  } catch {
    // Refused below like everything else that is no object.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new InvalidError('template_variables must be an object of values by variable name.');
  }
  return { ...parsed };
}

function parseRunId(runId: string | undefined): string | null {
  if (runId === undefined) return null;
  if (!isUuid(runId)) throw new InvalidError('on_behalf_of_run_id must be a UUID.');
  return runId;
}
