import { uuidv7 } from '@dak/kernel';
import type { EventReader, FindReaders } from '../event-stream/item-readers';
import type { MailClients } from './mail-clients';

/** Readers in one question; the mail service takes 5 000. */
const READERS = 2_000;
const WITHIN_MS = 10_000;

/** Asks the mail service who may read events, as of now. */
export function createFindReaders({ visibility }: Pick<MailClients, 'visibility'>): FindReaders {
  return async (organizationId, places, readers) => {
    const found = places.map(() => ({
      mayRead: new Set<string>(),
      maySend: new Set<string>(),
    }));
    for (let at = 0; at < readers.length; at += READERS) {
      const some: readonly EventReader[] = readers.slice(at, at + READERS);
      const reply = await visibility.findReaders(
        {
          organizationId,
          places: places.map(({ conversationId, mailboxId, departmentId }) => ({
            conversationId,
            mailboxId: mailboxId ?? '',
            departmentId: departmentId ?? undefined,
          })),
          readers: some.map(({ userId, departmentIds }) => ({
            userId,
            departmentIds: [...departmentIds],
          })),
        },
        {
          principal: null,
          requestId: `stream-${uuidv7()}`,
          deadline: Date.now() + WITHIN_MS,
          isRead: true,
        },
      );
      reply.places.forEach(({ userIds, senderIds }, index) => {
        for (const id of userIds) found[index]?.mayRead.add(id);
        for (const id of senderIds) found[index]?.maySend.add(id);
      });
    }
    return found;
  };
}
