import { InvalidError, RefusedError } from '@dak/kernel';
import {
  parseRecipient,
  type MailContent,
  type Recipient,
  type SendWindowFields,
} from '@dak/contracts/api';
import { Content } from '@dak/contracts/mail';
import { requestOf } from '@dak/contracts/requests';
import type { SignaturePosition } from './assemble-body';
import type { SendTimeRequest } from './send-time';
import type { SendWindow } from './send-window';

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
  readonly metadata: NonNullable<MailContent['metadata']>;
  readonly runId: string | null;
}

/** A mail as its schema reads it; its message keeps what all kinds share in `content`. */
export function mailRequestOf(message: { content?: Content | undefined }): Record<string, unknown> {
  const { content = Content.fromPartial({}), ...own } = message;
  const { setsSignature, signatureId, ...shared } = content;
  const request = { ...requestOf(own), ...requestOf(shared) };
  if (setsSignature) request['signature_id'] = signatureId ?? null;
  for (const absent of ['mailbox_id', 'reply_mode']) {
    if (request[absent] === '') delete request[absent];
  }
  return request;
}

/** @throws RefusedError for what this deployment cannot do and must not silently leave undone */
export function contentOf(request: MailContent): SubmissionContent {
  if (request.encrypt === true) {
    throw new RefusedError(
      'encrypt cannot be honored: no key of the recipients is known here. Leave it out to send without encryption.',
      'encryption_unavailable',
    );
  }
  if (request.require_approval === true) {
    throw new RefusedError(
      'require_approval cannot be honored: there is no approval queue here. Create a draft instead.',
      'approval_unavailable',
    );
  }
  const { send_window: window, signature_id: signatureId } = request;
  return {
    bodyText: request.body_text ?? null,
    bodyHtml: request.body_html ?? null,
    templateId: request.template_id ?? null,
    templateVariables: request.template_variables ?? null,
    attachmentTokens: request.attachment_tokens ?? [],
    sendTime: {
      sendAt: request.send_at ?? null,
      window: window ? windowOf(window) : null,
      undoSeconds: request.undo_seconds ?? null,
    },
    cancelIfReply: request.cancel_if_reply ?? false,
    signature: signatureOf(signatureId),
    signaturePosition: request.signature_position ?? 'above_quote',
    replyTo: (request.reply_to ?? []).map((text) => parseRecipient(text, 'reply_to')),
    labels: request.labels ?? [],
    metadata: request.metadata ?? {},
    runId: request.on_behalf_of_run_id ?? null,
  };
}

function windowOf({ time_zone: timeZone, days, from, to }: SendWindowFields): SendWindow {
  return { timeZone, days, from, to };
}

function signatureOf(id: string | null | undefined): SignatureChoice {
  if (id === undefined) return { kind: 'default' };
  return id === null ? { kind: 'none' } : { kind: 'chosen', id };
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
