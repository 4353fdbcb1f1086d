import { uuidv7 } from '@dak/kernel';
import type { VisibilityServiceService } from '@dak/contracts/mail';
import type { CallOptions, Client } from '@dak/platform/grpc';

/** The mail service, asked by this service for itself. */
export type VisibilityClient = Pick<
  Client<typeof VisibilityServiceService, CallOptions>,
  'findReaders'
>;

export interface QuestionedPlace {
  conversationId: string;
  mailboxId: string;
  departmentId: string | undefined;
  readers: readonly { userId: string; departmentIds: readonly string[] }[];
  /** W3C trace context of what asks. */
  traceparent?: string | undefined;
}

const PATIENCE_MS = 10_000;
const MAX_PLACES = 500;

/**
 * Asks once who may read these conversations now. The answer is for the batch in hand and must not
 * be kept: an assignment that ends counts at once. What `needsSend` is for who may send there.
 * @throws UnavailableError and the like when the mail service does not answer; nothing may go out then
 */
export async function readableBy(
  visibility: VisibilityClient,
  organizationId: string,
  places: readonly QuestionedPlace[],
): Promise<(conversationId: string, userId: string, needsSend?: boolean) => boolean> {
  const readable = new Set<string>();
  const sendable = new Set<string>();
  const byConversation = new Map(places.map((place) => [place.conversationId, place]));
  const readers = new Map(
    places.flatMap((place) => place.readers).map((reader) => [reader.userId, reader]),
  );
  const questions = [...byConversation.values()];
  // One question for many is seen in the trace of the first.
  const traceparent = places.find((place) => place.traceparent)?.traceparent;
  for (let next = 0; next < questions.length; next += MAX_PLACES) {
    const asked = questions.slice(next, next + MAX_PLACES);
    const answer = await visibility.findReaders(
      {
        organizationId,
        places: asked.map(({ conversationId, mailboxId, departmentId }) => ({
          conversationId,
          mailboxId,
          ...(departmentId === undefined ? {} : { departmentId }),
        })),
        readers: [...readers.values()].map(({ userId, departmentIds }) => ({
          userId,
          departmentIds: [...departmentIds],
        })),
      },
      {
        principal: null,
        requestId: uuidv7(),
        deadline: Date.now() + PATIENCE_MS,
        isRead: true,
        ...(traceparent === undefined ? {} : { traceparent }),
      },
    );
    answer.places.forEach(({ userIds, senderIds }, index) => {
      const { conversationId } = asked[index]!;
      for (const userId of userIds) readable.add(`${conversationId}/${userId}`);
      for (const userId of senderIds) sendable.add(`${conversationId}/${userId}`);
    });
  }
  return (conversationId, userId, needsSend = false) =>
    (needsSend ? sendable : readable).has(`${conversationId}/${userId}`);
}
