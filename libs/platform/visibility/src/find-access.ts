import type { VisibilityServiceService } from '@dak/contracts/mail';
import { uuidv7 } from '@dak/kernel';
import type { CallOptions, Client } from '@dak/platform/grpc';

/** The mail service, which knows read permissions; called by a service on its own behalf. */
export type VisibilityClient = Pick<
  Client<typeof VisibilityServiceService, CallOptions>,
  'findReaders'
>;

/** Where something happened: mailbox and department of then count when the conversation no longer exists. */
export interface Place {
  readonly conversationId: string;
  readonly mailboxId: string | null;
  readonly departmentId: string | null;
}

/** A regular user with their present departments. */
export interface Reader {
  readonly userId: string;
  readonly departmentIds: readonly string[];
}

/** Whether a reader may read what happened at a place, and with `needsSend` also send there. */
export type ReadAccess = (place: Place, userId: string, needsSend?: boolean) => boolean;

const WITHIN_MS = 10_000;
/** In one question; the mail service takes 5 000 of each. */
const MAX_PLACES = 500;
const MAX_READERS = 2_000;

/**
 * Asks once which of these users may read what happened at these places. The answer is for the batch in hand and must
 * not be kept: an assignment that ends counts at once. Administrators are not asked about, they see everything.
 * @param traceparent W3C trace context of what asks
 * @throws UnavailableError and the like when the mail service does not answer; nothing may be shown then
 */
export async function findAccess(
  visibility: VisibilityClient,
  organizationId: string,
  places: readonly Place[],
  readers: readonly Reader[],
  traceparent?: string,
): Promise<ReadAccess> {
  const access = new Map<string, { mayRead: Set<string>; maySend: Set<string> }>();
  const different = new Map(places.map((place) => [placeKey(place), place]));
  const people = new Map(readers.map((reader) => [reader.userId, reader]));
  for (const asked of chunks([...different.values()], MAX_PLACES)) {
    for (const some of chunks([...people.values()], MAX_READERS)) {
      const reply = await visibility.findReaders(
        {
          organizationId,
          places: asked.map(({ conversationId, mailboxId, departmentId }) => ({
            conversationId,
            mailboxId: mailboxId ?? '',
            ...(departmentId === null ? {} : { departmentId }),
          })),
          readers: some.map(({ userId, departmentIds }) => ({
            userId,
            departmentIds: [...departmentIds],
          })),
        },
        {
          principal: null,
          requestId: uuidv7(),
          deadline: Date.now() + WITHIN_MS,
          isRead: true,
          ...(traceparent === undefined ? {} : { traceparent }),
        },
      );
      reply.places.forEach(({ userIds, senderIds }, index) => {
        const key = placeKey(asked[index]!);
        const { mayRead, maySend } = access.get(key) ?? { mayRead: new Set(), maySend: new Set() };
        for (const id of userIds) mayRead.add(id);
        for (const id of senderIds) maySend.add(id);
        access.set(key, { mayRead, maySend });
      });
    }
  }
  return (place, userId, needsSend = false) =>
    access.get(placeKey(place))?.[needsSend ? 'maySend' : 'mayRead'].has(userId) === true;
}

function placeKey({ conversationId, mailboxId, departmentId }: Place): string {
  return `${conversationId} ${mailboxId ?? ''} ${departmentId ?? ''}`;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
