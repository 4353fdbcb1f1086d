import { ComposeMail, ForwardMail, ReplyMail, UpdateDraft } from '@dak/contracts/api';
import { ComposeRequest, Content, ForwardRequest, ReplyRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import { contentOf, mailRequestOf } from './submission-request';

const mailboxId = '6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d';

it('a message that says nothing is a mail with what proto3 has for absent fields', () => {
  const compose = parseRequest(
    ComposeMail,
    mailRequestOf(ComposeRequest.fromPartial({ mailboxId })),
  );
  expect(contentOf(compose)).toEqual({
    bodyText: null,
    bodyHtml: null,
    templateId: null,
    templateVariables: null,
    attachmentTokens: [],
    sendTime: { sendAt: null, window: null, undoSeconds: null },
    cancelIfReply: false,
    signature: { kind: 'default' },
    signaturePosition: 'above_quote',
    replyTo: [],
    labels: [],
    metadata: {},
    runId: null,
  });
  const reply = parseRequest(ReplyMail, mailRequestOf(ReplyRequest.fromPartial({})));
  expect([reply.reply_mode, reply.quote_original]).toEqual([undefined, false]);
  const forward = parseRequest(ForwardMail, mailRequestOf(ForwardRequest.fromPartial({})));
  expect(forward.include_attachments).toBe(false);
  // A gateway sends the patch of a draft with a mailbox of no name.
  const patch = parseRequest(UpdateDraft, mailRequestOf(ComposeRequest.fromPartial({})));
  expect(patch.mailbox_id).toBeUndefined();
});

it('a signature is absent, none or chosen', () => {
  const signatureOf = (content: Partial<Content>) =>
    contentOf(mailRequestOf({ content: Content.fromPartial(content) })).signature;
  expect(signatureOf({ signatureId: mailboxId })).toEqual({ kind: 'default' });
  expect(signatureOf({ setsSignature: true })).toEqual({ kind: 'none' });
  expect(signatureOf({ setsSignature: true, signatureId: mailboxId })).toEqual({
    kind: 'chosen',
    id: mailboxId,
  });
});
