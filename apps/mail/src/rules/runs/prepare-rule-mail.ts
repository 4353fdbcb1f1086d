import type { RuleAction } from '@dak/contracts/api';
import { type Actor, type Principal, RefusedError, uuidv7 } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { SqlExecutor } from '@dak/platform/postgres';
import {
  findForwardedMessage,
  usableRecipients,
  type AnsweredMessageRow,
} from '../../sending/submissions/answered-message-store';
import { attachmentsOf } from '../../sending/submissions/file-store';
import { readFiles } from '../../sending/submissions/load-files';
import { draftFields } from '../../sending/submissions/prepare-compose';
import { toQuote } from '../../sending/submissions/prepare-reply';
import {
  prepareSubmission,
  type PreparedSubmission,
} from '../../sending/submissions/prepare-submission';
import { parseRecipient } from '@dak/contracts/api';
import { replyRecipients } from '../../sending/submissions/reply-recipients';
import { replyReferences } from '../../sending/submissions/reply-references';
import { loadSender, mailboxOf } from '../../sending/submissions/sender-store';
import { forwardSubject, replySubject } from '../../sending/submissions/subject-prefix';
import { contentOf, type SubmissionContent } from '../../sending/submissions/submission-request';
import type { DraftContent } from '../../sending/submissions/submission-store';
import { renderTemplateFor } from '../../sending/templates/template-for';
import { selectTemplate } from '../../sending/templates/template-store';
import { withoutDetail } from '../definition/field-values';

import type { RuleMessage } from '../definition/rule-fields';
import { loopHeaders } from './automatic-mail';

export interface RuleMailFacts {
  readonly organizationId: string;
  /** The rule, as the author. */
  readonly actor: Actor;
  /** On whose behalf. */
  readonly principal: Principal;
  readonly message: RuleMessage;
  /** Where the message is now. */
  readonly conversationId: string;
  readonly headers: RuleMessage['headers'];
  readonly now: number;
}

export interface RuleMail {
  readonly prepared: PreparedSubmission;
  readonly draftContent: DraftContent;
}

/**
 * The mail of a `forward`: as the API forwards, without a note and at once.
 * @param to those who have not got it from another rule
 * @throws DomainError where the API would refuse it too
 */
export async function prepareForward(
  tx: SqlExecutor,
  blobs: BlobStore,
  facts: RuleMailFacts,
  to: readonly string[],
): Promise<RuleMail> {
  const { organizationId, message, conversationId, now } = facts;
  const content = contentOf({});
  const sender = await senderOf(tx, facts, { ...content, signature: { kind: 'none' } });
  const original = await findForwardedMessage(tx, organizationId, conversationId, message.id);
  const references = await attachmentsOf(tx, organizationId, message.id);
  const files = await readFiles(blobs, organizationId, references);
  const subject = forwardSubject(onOneLine(original.subject));
  const prepared = await prepareSubmission({
    ...commonFacts(facts),
    id: uuidv7(now),
    kind: 'forward',
    sender,
    lists: { to: to.map((address) => parseRecipient(address, 'to')), cc: [], bcc: [] },
    subject,
    content,
    template: null,
    quote: toQuote('forward', original),
    thread: { inReplyTo: null, references: chainOf(original).references },
    files: references.map((reference, index) => ({ reference, content: files[index]! })),
  });
  return { prepared, draftContent: draftOf(content, subject, [...to]) };
}

/**
 * The mail of a `reply_with_template`: to the sender of the message, with the default signature.
 * Variables that the template declares and the rule leaves out are filled from the mail where their
 * name defines the value: `sender_name`, `sender_email`, `subject`, `mailbox_address`.
 * @throws DomainError where the API would refuse it too
 */
export async function prepareTemplateReply(
  tx: SqlExecutor,
  facts: RuleMailFacts,
  action: Extract<RuleAction, { type: 'reply_with_template' }>,
): Promise<RuleMail> {
  const { organizationId, message, conversationId, now } = facts;
  const version = action.template_version ?? null;
  const variables = {
    ...(await variablesOf(tx, facts, action.template_id, version)),
    ...action.variables,
  };
  const rendered = await renderTemplateFor(
    tx,
    organizationId,
    action.template_id,
    variables,
    version,
  );
  const { bodyText, bodyHtml } = rendered;
  const content: SubmissionContent = {
    ...contentOf({}),
    bodyText,
    bodyHtml,
  };
  const sender = await senderOf(tx, facts, content);
  const original = await findForwardedMessage(tx, organizationId, conversationId, message.id);
  const own = message.mailboxAddress.toLowerCase();
  const lists = replyRecipients(
    'sender',
    {
      direction: 'inbound',
      from:
        usableRecipients(original.from_address === null ? [] : [original.from_address])[0] ?? null,
      replyTo: usableRecipients(original.reply_to),
      to: usableRecipients(original.to_addresses),
      cc: usableRecipients(original.cc_addresses),
      followupTo: [],
    },
    { to: [], cc: [], bcc: [] },
    (email) => withoutDetail(email) === own,
  );
  if (lists.to.length === 0) throw new RefusedError('The mail has no sender to answer.');
  const prepared = await prepareSubmission({
    ...commonFacts(facts),
    id: uuidv7(now),
    kind: 'reply',
    sender,
    lists,
    subject: replySubject(onOneLine(original.subject)),
    content,
    template: { id: rendered.templateId, version: rendered.version },
    quote: null,
    thread: chainOf(original),
    files: [],
  });
  return {
    prepared,
    draftContent: { ...draftOf(content, null, []), kind: 'reply', reply_mode: 'sender' },
  };
}

async function variablesOf(
  tx: SqlExecutor,
  { organizationId, message }: RuleMailFacts,
  templateId: string,
  version: number | null,
): Promise<Record<string, string>> {
  const template = await selectTemplate(tx, organizationId, templateId, { version });
  const known: Readonly<Record<string, string>> = {
    sender_name: message.from?.name ?? '',
    sender_email: message.from?.email ?? '',
    subject: message.subject,
    mailbox_address: message.mailboxAddress,
  };
  const declared = (template?.variables ?? []).filter(({ type }) => type === 'string');
  return Object.fromEntries(
    declared.flatMap(({ name }) => {
      const value = Object.hasOwn(known, name) ? known[name]! : '';
      return value === '' ? [] : [[name, onOneLine(value)]];
    }),
  );
}

function senderOf(tx: SqlExecutor, facts: RuleMailFacts, { signature }: SubmissionContent) {
  const { organizationId, principal, message } = facts;
  const findMailbox = mailboxOf(tx, organizationId, message.mailboxId);
  // No one would repeat a rule's failed mail.
  return loadSender(tx, principal, message.mailboxId, findMailbox, signature, true);
}

function commonFacts({ actor, conversationId, message, headers, now }: RuleMailFacts) {
  return {
    now,
    conversationId,
    author: { actor, isAutomatic: true },
    // Nobody is there to undo it.
    defaultUndoSeconds: 0,
    headers: loopHeaders(message, headers),
  };
}

function chainOf(original: AnsweredMessageRow) {
  return replyReferences({
    messageId: original.message_id_header,
    inReplyTo: original.in_reply_to,
    references: original.reference_ids,
  });
}

function draftOf(content: SubmissionContent, subject: string | null, to: string[]): DraftContent {
  return {
    ...draftFields(content),
    kind: 'compose',
    reply_mode: null,
    to,
    cc: [],
    bcc: [],
    subject,
    quote_original: false,
  };
}

/** An encoded word may hide line ends (RFC 2047 §5), which could begin a header field of their own. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
