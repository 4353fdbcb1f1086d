import { z } from 'zod';
import { InvalidError } from '@dak/kernel';
import { EVENT_KINDS, type EventKind } from '@dak/contracts/events';
import { defineRoute, queryInteger, type Route } from '../http';
import { credentialOf, type Authenticator } from '../http/authenticator';
import type { StreamHub } from './stream-hub';

const MAX_SECONDS = 3_600;

const DESCRIPTION = `Server-sent events (text/event-stream). Each has the id of the event as \`id\`, its kind as \`event\` and as \`data\` what a webhook gets. An administrator gets every event of the organization, others those of conversations that they may read at that moment; events without a conversation are for administrators.

With the header Last-Event-ID (or last_event_id) the stream goes on after that event: nothing is missing and nothing comes twice, whichever server answers. An \`id\` alone, \`pos_…\`, marks a place between events and can be used in the same way. Events are kept for 48 hours; where what follows the id is gone, or the id is unknown, the event \`reset\` says so and the stream goes on with what happens from then on.

The event \`unauthorized\` ends the stream when its credential is revoked, expires or loses the scope; \`close\` ends it when the server stops, or what it has is not read for 30 seconds: connect again with Last-Event-ID. A comment comes at least every 15 seconds.`;

const streamQuery = z.object({
  types: z
    .string()
    .max(500)
    .optional()
    .meta({
      description: `Event types, separated by commas. Default: all. Known: ${EVENT_KINDS.join(', ')}.`,
    }),
  mailbox: z.uuid().optional().meta({ description: 'Only events of this mailbox.' }),
  last_event_id: z.string().max(512).optional().meta({
    description: 'Same as the Last-Event-ID header, which takes precedence.',
  }),
  seconds: queryInteger(0, MAX_SECONDS).optional().meta({
    type: 'integer',
    minimum: 0,
    maximum: MAX_SECONDS,
    description:
      'Ends the stream after this many seconds; 0 ends it once past events have been sent. Default: stays open.',
  }),
});

export function eventStreamRoutes(parts: {
  hub: StreamHub;
  authenticator: Authenticator;
}): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/events/stream',
      tag: 'events',
      summary: 'Stream events',
      description: DESCRIPTION,
      request: { query: streamQuery },
      responses: { 200: { description: 'The events', contentType: 'text/event-stream' } },
      handler: async ({ query, headers }) => {
        const credential = credentialOf(headers);
        const { authenticator, hub } = parts;
        const known = authenticator.recall(credential) ?? (await authenticator.resolve(credential));
        const header = headers['last-event-id'];
        const given = typeof header === 'string' && header !== '' ? header : query.last_event_id;
        const stream = await hub.open({
          credential,
          known,
          filter: { types: parseTypes(query.types), mailboxId: query.mailbox ?? null },
          lastEventId: given === undefined || given === '' ? null : given,
          endAfterMs: query.seconds === undefined ? null : query.seconds * 1_000,
        });
        return {
          status: 200,
          stream: stream.readable,
          headers: {
            'Content-Type': 'text/event-stream; charset=utf-8',
            'Cache-Control': 'no-store, no-transform',
            // nginx and those like it would keep events until a buffer is full.
            'X-Accel-Buffering': 'no',
          },
        };
      },
    }),
  ];
}

function parseTypes(text: string | undefined): ReadonlySet<EventKind> {
  const names = (text ?? '').split(',').map((name) => name.trim());
  return new Set(
    names
      .filter((name) => name !== '')
      .map((name) => {
        const kind = EVENT_KINDS.find((known) => known === name);
        if (kind !== undefined) return kind;
        throw new InvalidError(
          `types names ${name.slice(0, 50)}, which is no kind of event. Known are ${EVENT_KINDS.join(', ')}.`,
        );
      }),
  );
}
