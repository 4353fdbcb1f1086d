import { z } from 'zod';
import { EVENT_DATA, PublicEventRecord } from '@dak/contracts/api';
import { EVENT_KINDS, exampleEvent, topicOf } from '@dak/contracts/events';
import { defineRoute, pageOf, queryInteger, type Route } from '../http';

const EventTypeRecord = z.object({
  type: z.enum(EVENT_KINDS),
  description: z.string(),
  topic: z.string().describe('Where the event is in the deployment’s log'),
  schema: z
    .record(z.string(), z.unknown())
    .describe('JSON Schema 2020-12 of the body of a webhook and of the data of the event stream'),
  example: PublicEventRecord,
});

const EXAMPLE = {
  id: 'evt_0199c2a4-6d3e-7c11-9a55-2f60b1d0a00b',
  organizationId: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a00c',
  at: new Date('2027-01-31T09:00:00.000Z'),
};
const TYPES = EVENT_KINDS.map((type) => ({
  type,
  description: EVENT_DATA[type].description ?? '',
  topic: topicOf(type),
  schema: eventSchema(type),
  example: exampleEvent(type, EXAMPLE),
}));

/** GET `/webhooks/event-types`: what can be subscribed to, made from the schemas that the code renders to. */
export function eventTypesRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/webhooks/event-types',
    tag: 'webhooks',
    summary: 'List event types with their JSON Schemas',
    request: {
      query: z.object({
        page: queryInteger(1, 1_000).optional(),
        per_page: queryInteger(1, 100).optional(),
      }),
    },
    responses: { 200: { description: 'Every event type', schema: pageOf(EventTypeRecord) } },
    handler: ({ query }) => {
      const { page = 1, per_page = 25 } = query;
      const data = TYPES.slice((page - 1) * per_page, page * per_page);
      return {
        status: 200,
        body: {
          data,
          page,
          per_page,
          total: TYPES.length,
          total_pages: Math.ceil(TYPES.length / per_page),
          has_more: page * per_page < TYPES.length,
          next_cursor: null,
        },
      };
    },
  });
}

/** JSON Schema of the whole body of one kind. More members may be added, so none is refused. */
export function eventSchema(type: (typeof EVENT_KINDS)[number]): Record<string, unknown> {
  const schema = PublicEventRecord.extend({ type: z.literal(type), data: EVENT_DATA[type] });
  return z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}
