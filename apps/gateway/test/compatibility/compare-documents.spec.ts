import { documentBreaks } from './compare-documents';
import type { Schema } from './compare-schemas';

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });
const text = { type: 'string' };
const header = (name: string, required = false, schema: Schema = text) => ({
  name,
  in: 'header',
  required,
  schema,
});

const OPERATION = {
  operationId: 'get_it',
  'x-scopes': ['mail:read', 'mail:admin'],
  'x-emits': ['mail.sent'],
  parameters: [header('If-Match')],
  requestBody: json({ type: 'object', properties: { name: text } }),
  responses: {
    200: { ...json({ type: 'object', properties: { id: text } }), headers: { ETag: {} } },
    404: { $ref: '#/components/responses/NotFound' },
  },
};
const document = (operation: Schema) => ({
  paths: { '/it': { post: operation } },
  components: { responses: { NotFound: json(text) } },
});
const breaks = (change: Schema, former: Schema = {}) =>
  documentBreaks(document({ ...OPERATION, ...former }), document({ ...OPERATION, ...change }));

describe('an OpenAPI document breaks its former version', () => {
  it.each([
    ['has another operationId', { operationId: 'fetch_it' }],
    ['is not for mail:admin', { 'x-scopes': ['mail:read'] }],
    ['needs mail:send also', { 'x-scopes-also': ['mail:send'] }],
    ['needs another x-role', { 'x-role': 'admin' }],
    ['does not emit mail.sent', { 'x-emits': [] }],
    [': header If-Match is gone', { parameters: [] }],
    [': header If-Match is required', { parameters: [header('If-Match', true)] }],
    [
      ': header If-Match: maxLength is tighter',
      { parameters: [header('If-Match', false, { ...text, maxLength: 1 })] },
    ],
    [': header X is required', { parameters: [header('If-Match'), header('X', true)] }],
    ['takes no body', { requestBody: undefined }],
    ['needs a body', { requestBody: { ...OPERATION.requestBody, required: true } }],
    ['body is not application/json', { requestBody: { content: {} } }],
    ['body.name is gone', { requestBody: json({ type: 'object' }) }],
    ['has no reply 404', { responses: { 200: OPERATION.responses[200] } }],
    [
      '200 has no ETag',
      { responses: { ...OPERATION.responses, 200: { ...OPERATION.responses[200], headers: {} } } },
    ],
    [
      '200.id is gone',
      {
        responses: {
          ...OPERATION.responses,
          200: { ...OPERATION.responses[200], ...json({ type: 'object' }) },
        },
      },
    ],
  ])('when an operation %s', (sentence, change) => {
    expect(breaks(change)).toEqual([`POST /it${sentence.startsWith(':') ? '' : ' '}${sentence}`]);
  });

  it('when an operation is gone, or its path', () => {
    const former = document(OPERATION);
    expect(documentBreaks(former, { ...former, paths: { '/it': {} } })).toEqual([
      'POST /it is gone',
    ]);
    expect(documentBreaks(former, { ...former, paths: {} })).toEqual(['POST /it is gone']);
  });

  it('when it refuses a credential', () => {
    const session = { security: [{ session: [] }] };
    const open = { security: [], 'x-scopes': undefined };
    expect(breaks(session)).toEqual(['POST /it refuses apiKey', 'POST /it refuses apiKeyHeader']);
    expect(breaks({}, open)).toEqual(['POST /it refuses no credential', 'POST /it needs a scope']);
  });
});

describe('an OpenAPI document does not break', () => {
  it.each([
    ['a scope that suffices as well', { 'x-scopes': ['mail:read', 'mail:admin', 'mail:send'] }],
    ['a parameter that may be absent', { parameters: [header('If-Match'), header('X')] }],
    ['a reply', { responses: { ...OPERATION.responses, 202: json(text) } }],
    ['everybody', { security: [], 'x-scopes': undefined }],
  ])('by %s', (_, change) => {
    expect(breaks(change)).toEqual([]);
  });

  it('by a route', () => {
    const current = { ...document(OPERATION), paths: { '/it': { post: OPERATION }, '/new': {} } };
    expect(documentBreaks(document(OPERATION), current)).toEqual([]);
  });
});
