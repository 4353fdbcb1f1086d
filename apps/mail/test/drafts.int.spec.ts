import { systemClock } from '@dak/kernel';
import type { DraftRecord, SignatureRecord, UploadRecord } from '@dak/contracts/api';
import {
  CreateDraftRequest,
  CreateSignatureRequest,
  ListDraftsRequest,
  ListOutboxRequest,
  ListSignaturesRequest,
  PreviewRequest,
  UpdateDraftRequest,
  UpdateSignatureRequest,
  UploadRequest,
  CancelOutboxEntryRequest,
  type Document,
} from '@dak/contracts/mail';
import { parseMessage } from '@dak/formats/rfc5322';
import { createReaders } from '../src/db/database-reader';
import { createModels } from '../src/db/models';
import { createSignatureHandlers } from '../src/mailboxes/signatures/handlers';
import { createAttachmentHandlers } from '../src/sending/attachments/handlers';
import { createDraftHandlers } from '../src/sending/drafts/handlers';
import { contextOf, insertMailbox, principal } from './mail-fixtures';
import { composeRequest, openSending, receiptOf, type Sending } from './submission-fixtures';

let sending: Sending;
let drafts: ReturnType<typeof createDraftHandlers>;
let signatures: ReturnType<typeof createSignatureHandlers>;
let attachments: ReturnType<typeof createAttachmentHandlers>;
let mailbox: { id: string; address: string };
const caller = principal();
const cursorKey = Buffer.alloc(32, 1);

beforeAll(async () => {
  sending = await openSending();
  const { database } = sending.mail;
  const deps = { database, blobs: sending.blobs, clock: systemClock, cursorKey };
  drafts = createDraftHandlers({
    ...deps,
    acceptor: sending.acceptor,
    readers: createReaders(database),
  });
  signatures = createSignatureHandlers({ ...deps, models: createModels(database) });
  attachments = createAttachmentHandlers(deps);
  mailbox = await insertMailbox(database, caller.organizationId);
});
afterAll(() => sending.close());

function record<T>(document: Document): T {
  return JSON.parse(document.json.toString('utf8')) as T;
}

async function upload(
  content: Buffer,
  description: { filename: string; contentType: string; contentId?: string },
  who = caller,
): Promise<UploadRecord> {
  async function* requests(): AsyncIterable<UploadRequest> {
    yield UploadRequest.fromPartial({ part: { $case: 'description', value: description } });
    yield UploadRequest.fromPartial({ part: { $case: 'content', value: content.subarray(0, 3) } });
    yield UploadRequest.fromPartial({ part: { $case: 'content', value: content.subarray(3) } });
  }
  return record(await attachments.upload(requests(), contextOf(who)));
}

it('keeps, changes, lists and sends a draft, which is gone then', async () => {
  const file = await upload(Buffer.from('invoice'), {
    filename: '../../in voice.txt',
    contentType: 'text/plain',
  });
  expect(file.filename).toBe('in voice.txt');
  const created = await drafts.createDraft(
    CreateDraftRequest.fromPartial({
      compose: composeRequest({ mailboxId: mailbox.id, to: ['half an addr'] }),
    }),
    contextOf(caller),
  );
  const draft = record<DraftRecord>(created);
  const changed = await drafts.updateDraft(
    UpdateDraftRequest.fromPartial({
      id: draft.id,
      expectedVersion: 1,
      fields: ['to', 'attachment_tokens', 'undo_seconds'],
      compose: composeRequest({
        mailboxId: mailbox.id,
        to: ['meera@customer.example'],
        content: { attachmentTokens: [file.token], undoSeconds: 0 },
      }),
    }),
    contextOf(caller),
  );
  expect(record<DraftRecord>(changed)).toMatchObject({
    version: 2,
    subject: 'Your order',
    attachment_tokens: [file.token],
  });
  await expect(
    drafts.updateDraft(
      UpdateDraftRequest.fromPartial({ id: draft.id, expectedVersion: 1 }),
      contextOf(caller),
    ),
  ).rejects.toMatchObject({ kind: 'precondition_failed' });
  const page = await drafts.listDrafts(ListDraftsRequest.fromPartial({}), contextOf(caller));
  expect(page.total).toBe(1);

  // A colleague may send it although the file is somebody else's upload.
  const colleague = principal({ organizationId: caller.organizationId });
  const settled = await Promise.allSettled([
    drafts.sendDraft({ id: draft.id, expectedVersion: 2 }, contextOf(colleague)),
    drafts.sendDraft({ id: draft.id, expectedVersion: 2 }, contextOf(colleague)),
  ]);
  const sent = settled.flatMap((one) => (one.status === 'fulfilled' ? [receiptOf(one.value)] : []));
  expect(sent).toHaveLength(1);
  await expect(drafts.getDraft({ id: draft.id }, contextOf(caller))).rejects.toMatchObject({
    kind: 'not_found',
  });
});

it('gives canceled mail back as a draft with its files', async () => {
  const file = await upload(Buffer.from('picture'), {
    filename: 'p.png',
    contentType: 'image/png',
    contentId: 'pic',
  });
  const receipt = receiptOf(
    await sending.handlers.compose(
      composeRequest({
        mailboxId: mailbox.id,
        cc: ['boss@customer.example'],
        content: {
          bodyHtml: '<p><img src="cid:pic"></p>',
          attachmentTokens: [file.token],
          undoSeconds: 60,
        },
      }),
      contextOf(caller),
    ),
  );
  await sending.handlers.cancelOutboxEntry(
    CancelOutboxEntryRequest.fromPartial({ id: receipt.id }),
    contextOf(caller),
  );
  const page = await drafts.listDrafts(ListDraftsRequest.fromPartial({}), contextOf(caller));
  const [draft] = JSON.parse(page.dataJson.toString()) as DraftRecord[];
  expect(draft).toMatchObject({
    to: ['meera@customer.example'],
    cc: ['boss@customer.example'],
    subject: 'Your order',
  });
  const again = receiptOf(
    await drafts.sendDraft({ id: draft!.id, expectedVersion: 1 }, contextOf(caller)),
  );
  const outbox = await sending.handlers.listOutbox(
    ListOutboxRequest.fromPartial({}),
    contextOf(caller),
  );
  expect(JSON.parse(outbox.dataJson.toString())).toContainEqual(
    expect.objectContaining({ id: again.id }),
  );
});

it('signs with the default of the mailbox, with a chosen signature or with none', async () => {
  const create = async (fields: Parameters<typeof CreateSignatureRequest.fromPartial>[0]) =>
    record<SignatureRecord>(
      await signatures.createSignature(
        CreateSignatureRequest.fromPartial(fields),
        contextOf(caller),
      ),
    );
  const tenant = await create({ name: 'Company', bodyText: 'Acme Ltd', isDefault: true });
  const own = await create({
    name: 'Desk',
    bodyText: 'The desk',
    mailboxId: mailbox.id,
    isDefault: true,
  });
  const html = await create({
    name: 'Html',
    bodyHtml: '<b>Bold</b><script>x</script>',
    mailboxId: mailbox.id,
  });
  expect(html.body_html).toBe('<b>Bold</b>');
  const text = async (content: object) => {
    const request = composeRequest({ mailboxId: mailbox.id, content });
    const document = await sending.handlers.preview(
      PreviewRequest.fromPartial({ kind: { $case: 'compose', value: request } }),
      contextOf(caller),
    );
    return record<{ body_text: string }>(document).body_text;
  };
  expect(await text({})).toBe('It is on its way.\n\n-- \nThe desk');
  expect(await text({ setsSignature: true })).toBe('It is on its way.');
  expect(await text({ setsSignature: true, signatureId: html.id })).toBe(
    'It is on its way.\n\n-- \nBold',
  );
  await signatures.updateSignature(
    UpdateSignatureRequest.fromPartial({ id: own.id, fields: ['is_default'], isDefault: false }),
    contextOf(caller),
  );
  expect(await text({})).toBe('It is on its way.\n\n-- \nAcme Ltd');
  const page = await signatures.listSignatures(
    ListSignaturesRequest.fromPartial({}),
    contextOf(caller),
  );
  expect(page.total).toBe(3);
  const member = principal({
    organizationId: caller.organizationId,
    role: 'user',
    scopes: ['mail.write'],
  });
  const seen = await signatures.listSignatures(
    ListSignaturesRequest.fromPartial({}),
    contextOf(member),
  );
  expect(JSON.parse(seen.dataJson.toString())).toMatchObject([{ id: tenant.id }]);
  await expect(
    signatures.deleteSignature({ id: tenant.id }, contextOf(member)),
  ).rejects.toMatchObject({ code: 'missing_scope' });
  await signatures.deleteSignature({ id: tenant.id }, contextOf(caller));
});

it('puts files into the message and binds tokens to whoever uploaded them', async () => {
  const bytes = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));
  const file = await upload(bytes, { filename: 'données.bin', contentType: 'application/x-thing' });
  const request = composeRequest({
    mailboxId: mailbox.id,
    content: { attachmentTokens: [file.token] },
  });
  const stranger = principal({ organizationId: caller.organizationId });
  await expect(sending.handlers.compose(request, contextOf(stranger))).rejects.toMatchObject({
    code: 'unknown_attachment',
  });
  const receipt = receiptOf(await sending.handlers.compose(request, contextOf(caller)));
  const [row] = await sending.mail.database.batchInTenant(caller.organizationId, [
    {
      name: 'test_attachment',
      text: 'select a.id, m.raw_sha256 from attachment a join message m on m.id = a.message_id where m.id = $1',
      values: [receipt.id],
    },
  ]);
  const stored = row![0] as { id: string; raw_sha256: string };
  const parsed = parseMessage(await sending.blobs.get(caller.organizationId, stored.raw_sha256));
  expect(parsed.attachments).toMatchObject([
    { filename: 'données.bin', contentType: 'application/x-thing' },
  ]);
  expect(Buffer.from(parsed.attachments[0]!.content).equals(bytes)).toBe(true);
  const where = {
    conversationId: receipt.conversation_id,
    messageId: receipt.id,
    attachmentId: stored.id,
  };
  const chunks: Buffer[] = [];
  for await (const { content } of attachments.downloadAttachment(where, contextOf(caller)))
    chunks.push(content);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  const reused = record<UploadRecord>(
    await attachments.reuseAttachment(
      { messageId: receipt.id, attachmentId: stored.id },
      contextOf(stranger),
    ),
  );
  expect(reused).toMatchObject({ sha256: file.sha256, filename: 'données.bin' });
  await attachments.discardUpload({ token: reused.token }, contextOf(stranger));
  await expect(
    attachments.discardUpload({ token: reused.token }, contextOf(stranger)),
  ).rejects.toMatchObject({ kind: 'not_found' });
});
