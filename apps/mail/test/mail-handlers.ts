import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@dak/kernel';
import { systemClock, type Clock } from '@dak/kernel';
import { FolderBlobStore } from '@dak/platform/blobs';
import { createConversationHandlers } from '../src/conversations/changes/handlers';
import { createLabelHandlers } from '../src/conversations/labels/handlers';
import { createMessageHandlers } from '../src/conversations/messages/handlers';
import type { NewMessage } from '../src/conversations/messages/new-message';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { createSearchHandlers } from '../src/conversations/search/handlers';
import { createModels } from '../src/db/models';
import { createMailboxHandlers } from '../src/mailboxes/handlers';
import {
  contextOf,
  newConversationIn,
  newMessage,
  openMailDatabase,
  type MailDatabase,
} from './mail-fixtures';

export type MailHandlers = Awaited<ReturnType<typeof openMailHandlers>>;

/** Mailbox, conversation and label handlers on a private database and folder. */
export async function openMailHandlers(clock: Clock = systemClock) {
  const mail: MailDatabase = await openMailDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'dak-mail-'));
  const blobs = await FolderBlobStore.open(folder);
  const cursorKey = new Uint8Array(32).fill(7);
  const { database } = mail;
  const deps = { database, models: createModels(database), clock, cursorKey, blobs };
  return {
    ...mail,
    blobs,
    mailboxes: createMailboxHandlers(deps),
    conversations: {
      ...createConversationHandlers(deps),
      ...createMessageHandlers(deps),
      ...createSearchHandlers(deps),
    },
    labels: createLabelHandlers(deps),
    /** Stores one inbound message that opens a conversation; returns both ids. */
    async receive(organizationId: string, mailboxId: string, overrides: Partial<NewMessage> = {}) {
      const conversation =
        overrides.conversation ?? (await newConversationIn(database, organizationId));
      const message = newMessage(mailboxId, { ...overrides, conversation });
      await database.inTenant(organizationId, (tx) =>
        recordMessages(tx, organizationId, [message], clock()),
      );
      return { conversationId: conversation.id, messageId: message.id };
    },
    close: async () => {
      await mail.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Everything of a request message, absent. */
export const LIST = { page: { page: 1, perPage: 25, cursor: '' }, filter: {}, sort: '' };

export async function listOf<T = Record<string, unknown>>(
  answer: Promise<{ dataJson: Buffer }>,
): Promise<T[]> {
  return JSON.parse((await answer).dataJson.toString()) as T[];
}

export async function recordOf<T = Record<string, unknown>>(
  answer: Promise<{ json: Buffer }>,
): Promise<T> {
  return JSON.parse((await answer).json.toString()) as T;
}

export function createRequest(address: string) {
  return {
    address,
    kind: '',
    departmentIds: [] as string[],
    assignedUserIds: [] as string[],
    settingsJson: Buffer.alloc(0),
    metadataJson: Buffer.alloc(0),
  };
}

export const updateRequest = (id: string, changes: Record<string, unknown>) => ({
  id,
  fields: Object.keys(changes).map((name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)),
  metadataJson: Buffer.alloc(0),
  ...changes,
});

export function as(caller: Principal) {
  return contextOf(caller);
}
