import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { z } from 'zod';
import { NotFoundError, RefusedError, UnavailableError } from '@dak/kernel';
import { slowPeer } from '@dak/testing/waiting';
import { defineProbe, queryInteger } from '../src/http';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

const RIGHT = { scopes: ['api.meta'], holder: 'everybody' } as const;

const answer = { 200: { description: 'What came in', schema: z.record(z.string(), z.unknown()) } };

const errors: Record<string, () => Error> = {
  crash: () => new Error('secret detail of the inside'),
  missing: () => new NotFoundError('thing'),
  refused: () => new RefusedError('subject is not allowed: choose another.', 'not_available'),
  down: () => new UnavailableError('The mail service does not answer.', 7),
};

const probes = [
  defineProbe(RIGHT, {
    method: 'POST',
    path: '/probe',
    summary: 'Echo',
    tag: 'probe',
    unknownFields: 'refuse',
    request: {
      query: z.object({ limit: queryInteger(1, 100).optional() }),
      body: z.object({
        name: z.string().min(1).max(20),
        send_at: z.iso.datetime().optional(),
        tags: z.array(z.string()).max(2).optional(),
        mode: z.enum(['a', 'b']).optional(),
      }),
    },
    responses: answer,
    handler: ({ body, query, call }) => ({
      status: 200,
      body: { body, query, idempotency: call.idempotency ?? null },
    }),
  }),
  defineProbe(RIGHT, {
    method: 'GET',
    path: '/probe/errors/{kind}',
    summary: 'Fails',
    tag: 'probe',
    request: { params: z.object({ kind: z.string() }) },
    responses: answer,
    handler: ({ params }) => {
      throw errors[params.kind]!();
    },
  }),
  defineProbe(RIGHT, {
    method: 'POST',
    path: '/probe/stream',
    summary: 'Counts bytes',
    tag: 'probe',
    bodyKind: 'stream',
    maxBodyBytes: 1000,
    responses: answer,
    handler: async ({ bodyStream }) => {
      let size = 0;
      for await (const chunk of bodyStream) size += chunk.length;
      return { status: 200, body: { size } };
    },
  }),
];

describe('the HTTP contract', () => {
  let site: GatewayUnderTest;

  beforeAll(async () => {
    site = await startGateway({ routes: () => probes });
  });
  afterAll(async () => {
    await site.close();
  });

  const key = () => site.client(site.seed.apiKey);

  it('serves the index with and without a slash at the end', async () => {
    for (const path of ['//api/v1', '//api/v1/', '/']) {
      expect((await key().get(path)).status).toBe(200);
    }
  });

  it('answers unknown paths with 404 and wrong methods with 405 and Allow', async () => {
    expect((await key().get('/nowhere')).status).toBe(404);
    expect((await key().get('//')).status).toBe(404);
    const wrong = await key().delete('/departments');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, POST, HEAD');
    expect((await key().call('OPTIONS', '/departments')).status).toBe(405);
  });

  it('answers HEAD like GET without a body', async () => {
    const reply = await key().call('HEAD', '/departments');
    expect([reply.status, reply.body]).toEqual([200, undefined]);
    expect(Number(reply.headers.get('content-length'))).toBeGreaterThan(50);
  });

  it('takes over a sane request id and makes one for any other', async () => {
    const sane = await key().get('/', { 'X-Request-Id': 'abc-123.4:5_6' });
    expect(sane.headers.get('x-request-id')).toBe('abc-123.4:5_6');
    for (const bad of ['with space', 'x'.repeat(129), 'é']) {
      const made = (await key().get('/', { 'X-Request-Id': bad })).headers.get('x-request-id');
      expect(made).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each([
    ['{', 'malformed_json', 'not valid JSON'],
    ['{"name": "a",}', 'malformed_json', 'not valid JSON'],
    ['[]', 'invalid_request', 'the body must be an object'],
    ['"text"', 'invalid_request', 'the body must be an object'],
    ['null', 'invalid_request', 'the body must be an object'],
    ['{}', 'invalid_request', 'name is missing: send a string.'],
    ['{"name": 5}', 'invalid_request', 'name must be a string.'],
    ['{"name": ""}', 'invalid_request', 'name must not be empty.'],
    ['{"name": "aaaaaaaaaaaaaaaaaaaaa"}', 'invalid_request', 'at most 20 characters'],
    ['{"name": "a", "send_att": "x"}', 'invalid_request', 'send_att is not a field'],
    ['{"name": "a", "send_at": "tomorrow"}', 'invalid_request', 'send_at must be an RFC 3339'],
    ['{"name": "a", "tags": ["x", 1]}', 'invalid_request', 'tags[1] must be a string.'],
    ['{"name": "a", "tags": ["x", "y", "z"]}', 'invalid_request', 'at most 2 elements'],
    ['{"name": "a", "mode": "c"}', 'invalid_request', 'mode must be one of "a", "b".'],
    ['{"name": "a\\u0000b"}', 'invalid_request', 'NUL'],
  ])('refuses the body %s with a sentence', async (body, code, sentence) => {
    const reply = await key().post('/probe', body);
    expect(reply.status).toBe(400);
    expect(reply.headers.get('x-error-code')).toBe(code);
    expect(reply.body.error).toContain(sentence);
  });

  it('refuses an absent body, deep nesting and invalid UTF-8 without breaking', async () => {
    expect((await key().post('/probe')).body.error).toContain('body is missing');
    const deep = await key().post('/probe', '['.repeat(200_000) + ']'.repeat(200_000));
    expect(deep.status).toBe(400);
    const response = await fetch(`${site.baseUrl}/api/v1/probe`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${site.seed.apiKey}`, 'Content-Type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0x6e, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: 'The request body must be valid UTF-8.' });
  });

  it('refuses other media types with 415', async () => {
    const wrong: Record<string, string>[] = [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Encoding': 'gzip' },
    ];
    for (const headers of wrong) {
      const reply = await key().call('POST', '/probe', { body: '{"name":"a"}', headers });
      expect(reply.status).toBe(415);
    }
  });

  it.each(['0', '101', 'text', '1.5', '1e2', '', '-1', ' 5'])(
    'refuses the page size "%s"',
    async (size) => {
      const reply = await key().get(`/departments?per_page=${encodeURIComponent(size)}`);
      expect(reply.status).toBe(400);
      expect(reply.body.error).toContain('per_page must be an integer from 1 to 100.');
    },
  );

  it('refuses page 0, a parameter given twice and broken percent-encoding', async () => {
    for (const query of ['page=0', 'page=1&page=2', 'page=%zz', 'x=%00']) {
      expect((await key().get(`/departments?${query}`)).status).toBe(400);
    }
    expect((await key().get('/departments/%zz')).status).toBe(400);
  });

  it('treats a path parameter that is no id as a miss', async () => {
    for (const id of ['x', '..%2f..%2fetc', "1' or '1'='1", 'é']) {
      const reply = await key().get(`/departments/${encodeURIComponent(id)}`);
      expect(reply.status).toBe(404);
    }
  });

  it('gives a page beyond the end as an empty one', async () => {
    const reply = await key().get('/departments?page=1000');
    expect(reply.body).toEqual({
      data: [],
      page: 1000,
      per_page: 25,
      total: 0,
      total_pages: 0,
      has_more: false,
      next_cursor: null,
    });
  });

  it('tells nothing of the inside when something breaks', async () => {
    const reply = await key().get('/probe/errors/crash');
    expect(reply.status).toBe(500);
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });

  it('maps errors to statuses with their code and Retry-After', async () => {
    const down = await key().get('/probe/errors/down');
    expect([down.status, down.headers.get('retry-after')]).toEqual([503, '7']);
    expect((await key().get('/probe/errors/missing')).status).toBe(404);
  });

  it('speaks RFC 9457 to who asks for it', async () => {
    const reply = await key().get('/probe/errors/missing', { Accept: 'application/problem+json' });
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(reply.body).toMatchObject({ status: 404, code: 'not_found', title: 'Not Found' });
  });

  it('passes the idempotency key of a route of a service on, with a hash of path and body', async () => {
    const send = (body: unknown) => key().post('/probe', body, { 'Idempotency-Key': 'k-1' });
    const [first, same, other] = [
      await send({ name: 'a' }),
      await send({ name: 'a' }),
      await send({ name: 'b' }),
    ];
    expect(first.body.idempotency).toMatchObject({ key: 'k-1', route: 'POST /probe' });
    expect(same.body.idempotency).toEqual(first.body.idempotency);
    expect(other.body.idempotency.requestHash).not.toBe(first.body.idempotency.requestHash);
  });

  it('answers a body of 100 MB with 413 and without keeping it in memory', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'a');
    const before = process.memoryUsage().rss;
    let peak = before;
    const status = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(`${site.baseUrl}/api/v1/probe`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${site.seed.apiKey}`,
          'Content-Type': 'application/json',
        },
      });
      request.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      request.on('error', reject);
      void (async () => {
        for (let i = 0; i < 100; i += 1) {
          request.write(chunk, () => undefined);
          await slowPeer(1);
          peak = Math.max(peak, process.memoryUsage().rss);
        }
        request.end();
      })();
    });
    expect(status).toBe(413);
    expect(peak - before).toBeLessThan(80 * 1024 * 1024);
  });

  it('answers a declared size that is too large before it is sent', async () => {
    const text = await raw(
      site.baseUrl,
      `POST /api/v1/probe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${site.seed.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 413 /);
    expect(text).toContain('"error":"The request body is larger than 10 MB');
  });

  it('tells a client that waits for it to continue', async () => {
    const body = '{"name":"a"}';
    const text = await raw(
      site.baseUrl,
      `POST /api/v1/probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${site.seed.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
      body,
    );
    expect(text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
  });

  it('cuts a stream off at its limit and keeps the connection usable', async () => {
    const send = (size: number) =>
      key().call('POST', '/probe/stream', {
        body: 'x'.repeat(size),
        headers: { 'Content-Type': 'message/rfc822' },
      });
    expect((await send(1000)).body).toEqual({ size: 1000 });
    expect((await send(300_000)).status).toBe(413);
    expect((await send(10)).body).toEqual({ size: 10 });
  });

  it('answers what is not HTTP and oversized headers in the one error form', async () => {
    const garbage = await raw(site.baseUrl, 'NONSENSE\r\n\r\n');
    expect(garbage).toMatch(/^HTTP\/1.1 400 /);
    expect(garbage).toContain('{"error":"This is not a well-formed HTTP request."}');
    const huge = await raw(
      site.baseUrl,
      `GET /api/v1 HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(40_000)}\r\n\r\n`,
    );
    expect(huge).toMatch(/^HTTP\/1.1 431 /);
    expect(huge).toContain('X-Error-Code: headers_too_large');
  });

  it('sends security headers, allows no other origin and stores nothing', async () => {
    const { headers } = await key().get('/', { Origin: 'https://evil.example' });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('strict-transport-security')).toBeNull();
  });

  it('tells health and readiness, and its metrics not here', async () => {
    expect((await site.client().get('//healthz')).status).toBe(200);
    expect((await site.client().get('//readyz')).status).toBe(200);
    expect((await site.client().get('//metrics')).status).toBe(404);
    const metrics = await site.metrics.metrics();
    expect(metrics).toContain('dak_http_requests_total{');
    expect(metrics).toContain('dak_rate_limited_total{class="login"} 0');
    expect(metrics).not.toContain(site.seed.organizationId);
  });
});

describe('rate limits', () => {
  let site: GatewayUnderTest;

  beforeAll(async () => {
    site = await startGateway({
      rateLimits: { readsPerMinute: 20, writesPerMinute: 3, anonymousPerMinute: 30 },
      loginFailures: 3,
    });
  });
  afterAll(async () => {
    await site.close();
  });

  it('count reads and writes apart, tell how many are left and when to come again', async () => {
    const admin = site.client(site.seed.apiKey);
    for (let left = 2; left >= 0; left -= 1) {
      const reply = await admin.post('/departments', { name: `D${left}` });
      expect(reply.headers.get('ratelimit-limit')).toBe('3');
      expect(reply.headers.get('ratelimit-remaining')).toBe(String(left));
      expect(reply.headers.get('ratelimit-policy')).toBe('3;w=60');
    }
    const refused = await admin.post('/departments', { name: 'E' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await admin.get('/departments')).status).toBe(200);
  });

  it('slow down the guessing of passwords, right or wrong', async () => {
    const login = (password: string) =>
      site.client().post('/auth/login', { email: site.seed.admin.email, password });
    for (let i = 0; i < 3; i += 1) expect((await login('wrong')).status).toBe(401);
    const refused = await login(site.seed.admin.password);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-error-code')).toBe('login_throttled');
  });

  it('charge who has no credential to their address', async () => {
    let status = 401;
    for (let i = 0; i < 31 && status === 401; i += 1) {
      status = (await site.client().get('/')).status;
    }
    expect(status).toBe(429);
    expect((await site.client(site.seed.apiKey).get('/')).status).toBe(200);
  });
});

/** Sends text over a bare socket; `afterContinue` once the server has said something. */
function raw(baseUrl: string, text: string, afterContinue?: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = '';
    const finish = () => {
      socket.destroy();
      resolve(received);
    };
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (afterContinue !== undefined && received === 'HTTP/1.1 100 Continue\r\n\r\n') {
        socket.write(afterContinue);
      } else if (/\{"error".*\}/s.test(received)) {
        finish();
      }
    });
    socket.on('end', finish);
    socket.on('error', reject);
  });
}
