import { request as httpRequest } from 'node:http';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { RouteDescription } from '@dak/gateway';
import { eventually } from '@dak/testing/waiting';
import {
  plainRequest,
  routeName,
  send,
  STOCK_PER_ROUND,
  type PlainRequest,
} from './plain-requests';
import { startStack, type Stack } from '../stack/stack';
import { createTenant, superadminSession, type Tenant } from '../stack/tenant';

type Schema = Record<string, unknown>;

const MB = 1024 * 1024;
const INJECTED = 'X-Injected: yes';
const LINE_ENDS = ['\r\n', '\n', '\r', '\r\n\r\n', '\u2028', '\u0085'];

/** No field takes all of these; which ones it takes its schema says. */
const WRONG_TYPES: readonly unknown[] = [
  'a text',
  '',
  7,
  -1.5,
  1e300,
  true,
  null,
  [],
  {},
  [[]],
  [7, null, {}],
  { a: { b: [1] } },
];

/** Texts that have broken parsers, queries, headers, file systems and terminals. */
const HOSTILE_TEXTS: readonly string[] = [
  'lone \ud800 surrogate',
  '\udfff',
  `a\r\n${INJECTED}`,
  '../../../../etc/passwd',
  '..\\..\\boot.ini',
  "'; drop table message; --",
  '%00%2e%2e%2f',
  '__proto__',
  '<script>alert(1)</script>',
  '\u202egnp.exe',
  '\u0007\u001b[2J',
  'x'.repeat(70_000),
  '\u{1f600}'.repeat(300),
];

const fileIn = (field: string) =>
  `--b\r\nContent-Disposition: form-data; name="${field}"; filename="a"\r\n\r\ncontent\r\n`;

describe('hostile requests', () => {
  let stack: Stack;
  let tenant: Tenant;
  let superadmin: string;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'tenantone', 4 * STOCK_PER_ROUND);
    superadmin = await superadminSession(stack);
  }, 60_000);
  afterEach(async () => {
    expect(stack.failures.splice(0)).toEqual([]);
    expect((await tenant.client.get('/')).status).toBe(200);
  });
  afterAll(async () => {
    await stack.close();
  });

  const clientFor = (route: RouteDescription) =>
    stack.client(
      route.access === 'superadmin'
        ? superadmin
        : route.sessionOnly
          ? tenant.admin.session
          : tenant.key,
    );
  const withJson = () => stack.gateway.routeTable().filter((route) => route.bodySchema !== null);

  it('get an error that names the field for every field of another type', async () => {
    const wrong: unknown[] = [];
    let tried = 0;
    for (const route of withJson()) {
      const own = await plainRequest(route, stack, tenant, tenant.open);
      const accepts = compile(route.bodySchema);
      for (const path of fieldsOf(route.bodySchema as Schema)) {
        for (const value of WRONG_TYPES) {
          const body = replaced(own.body, path, value);
          if (accepts(body)) continue;
          const reply = await send(clientFor(route), route, { ...own, body });
          tried += 1;
          const isNamed = String(reply.body?.error).includes(path[0]!);
          if (reply.status < 400 || reply.status >= 500 || !isNamed) {
            wrong.push([routeName(route), path.join('.'), value, reply.status, reply.body]);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(1000);
  }, 90_000);

  it('get no 5xx for hostile text in any field', async () => {
    const wrong: unknown[] = [];
    for (const route of withJson()) {
      // A password is tried slowly and a wrong one is counted: identity has tests of its own.
      if (route.path.startsWith('/api/v1/auth/')) continue;
      const own = await plainRequest(route, stack, tenant, tenant.open);
      const accepts = compile(route.bodySchema);
      for (const path of fieldsOf(route.bodySchema as Schema)) {
        // Passwords are hashed slowly, whatever is in them.
        if (path.at(-1) === 'password') continue;
        for (const text of HOSTILE_TEXTS) {
          const bodies = [text, [text], { [text]: text }].map((value) =>
            replaced(own.body, path, value),
          );
          // What the schema refuses is refused before anything is done with it.
          const body = bodies.find(accepts) ?? bodies[0];
          const reply = await send(clientFor(route), route, { ...own, body });
          if (reply.status >= 500) {
            wrong.push([routeName(route), path.join('.'), text.slice(0, 40), reply.status]);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  }, 90_000);

  it('get 400 for a NUL character or half a surrogate pair anywhere', async () => {
    for (const route of withJson()) {
      const own = await plainRequest(route, stack, tenant, tenant.open);
      for (const extra of [['a\0b'], { '\ud800': 1 }, ['\udfff\ud800']]) {
        const body = { ...(own.body as object), extra };
        const { status } = await send(clientFor(route), route, { ...own, body });
        expect([routeName(route), status]).toEqual([routeName(route), 400]);
      }
    }
    for (const path of ['/conversations?q=a%00b', '/mailboxes/%00', '/drafts/a%00']) {
      expect([path, (await tenant.client.get(path)).status]).toEqual([path, 400]);
    }
  });

  it('get a refusal for JSON nested deeper than anything documented', async () => {
    const wrong: unknown[] = [];
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    for (const route of withJson()) {
      const own = await plainRequest(route, stack, tenant, tenant.open);
      const documented = fieldsOf(route.bodySchema as Schema).filter((path) => path.length === 1);
      for (const [name] of documented as [string][]) {
        const body = `{${JSON.stringify(name)}: ${deep}}`;
        const { status } = await send(clientFor(route), route, { ...own, body });
        // 422 where the field takes anything and is not available yet, 413 where bodies are small.
        if (![400, 413, 422].includes(status)) wrong.push([routeName(route), name, status]);
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it.each([
    ['POST', '/api/v1/compose/send', 'application/json', true],
    ['POST', '/api/v1/compose/send', 'application/json', false],
    ['POST', '/api/v1/attachments', 'multipart/form-data; boundary=b', true],
    ['POST', '/api/v1/attachments', 'multipart/form-data; boundary=b', false],
  ])(
    'get 413 for 100 MB at %s %s of %s, in little memory (length told: %s)',
    async (method, path, type, isTold) => {
      const head =
        type === 'application/json'
          ? '{"subject": "'
          : '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
      const { status, peak } = await pour(path, method, type, head, isTold);
      expect(status).toBe(413);
      expect(peak).toBeLessThan(64 * MB);
    },
    60_000,
  );

  it('put no field of their own into a header of the mail', async () => {
    const uploaded = await Promise.all(
      LINE_ENDS.map(async (end) => {
        const form = new FormData();
        form.set('file', new File(['a'], `a${end}${INJECTED}.txt`, { type: 'text/plain' }));
        return (await tenant.client.post('/attachments', form)).body.token as string | undefined;
      }),
    );
    const attempts: object[] = LINE_ENDS.flatMap((end) => {
      const text = `a${end}${INJECTED}`;
      return [
        { subject: text },
        { to: [`${text} <a@elsewhere.example>`] },
        { to: [`"${text}" <a@elsewhere.example>`] },
        { to: [`a@elsewhere.example${end}${INJECTED}`] },
        { cc: [`"${text}" <a@elsewhere.example>`] },
        { bcc: [`${text} <a@elsewhere.example>`] },
        { reply_to: [`"${text}" <a@elsewhere.example>`] },
      ];
    });
    for (const token of uploaded)
      if (token !== undefined) attempts.push({ attachment_tokens: [token] });
    let sent = 0;
    for (const fields of attempts) {
      const reply = await tenant.client.post('/compose/send', {
        mailbox_id: tenant.open.id,
        to: ['a@elsewhere.example'],
        subject: 'Subject',
        body_text: 'Hello.',
        ...fields,
      });
      expect([JSON.stringify(fields), reply.status]).toEqual([
        JSON.stringify(fields),
        reply.status === 201 ? 201 : 400,
      ]);
      if (reply.status !== 201) continue;
      sent += 1;
      const raw = await rawOf(reply.body.conversation_id, reply.body.id);
      const header = raw.slice(0, raw.search(/\r\n\r\n/));
      expect(header).not.toMatch(/^X-Injected/im);
      expect(raw).not.toMatch(/(^|[\r\n])X-Injected: yes/);
    }
    expect(sent).toBeLessThan(attempts.length);
  }, 60_000);

  it('leave no path in the name of a file', async () => {
    const names = [
      '../../../etc/passwd',
      '..\\..\\boot.ini',
      '/etc/passwd',
      'C:\\a.txt',
      '..',
      '.',
      '',
    ];
    for (const name of names) {
      const form = new FormData();
      form.set('file', new File(['content'], name, { type: 'text/plain' }));
      const made = await tenant.client.post('/attachments', form);
      if (made.status === 400) continue;
      expect([name, made.status]).toEqual([name, 201]);
      expect(made.body.filename).not.toMatch(/[/\\]|^\.*$/);
      const { body } = await tenant.client.post('/compose/send', {
        mailbox_id: tenant.open.id,
        to: ['a@elsewhere.example'],
        subject: 'A file',
        body_text: 'Attached.',
        attachment_tokens: [made.body.token],
      });
      const path = `/conversations/${body.conversation_id}/messages/${body.id}`;
      const [file] = (await tenant.client.get(path)).body.attachments;
      expect(file.filename).toBe(made.body.filename);
      const link = await tenant.client.get(`${path}/attachments/${file.id}`);
      const download = await fetch(link.body.download_url);
      expect(await download.text()).toBe('content');
      expect(download.headers.get('content-disposition')).not.toMatch(/[/\\]/);
    }
  });

  it.each([
    ['its file in another field', fileIn('upload') + '--b--\r\n'],
    ['two files', fileIn('file') + fileIn('file') + '--b--\r\n'],
    ['no file', '--b--\r\n'],
    ['no end', fileIn('file').slice(0, -4)],
    ['no content', ''],
  ])('get 400 for a form with %s', async (_, form) => {
    const response = await fetch(`${stack.siteUrl}/api/v1/attachments`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tenant.key}`,
        'Content-Type': 'multipart/form-data; boundary=b',
      },
      body: form,
    });
    const { error } = (await response.json()) as { error: string };
    expect([response.status, error]).toEqual([400, expect.stringContaining(' form ')]);
  });

  it.each([
    ['a header of 100 kB', { 'X-Long': 'x'.repeat(100_000) }],
    ['2 000 headers', Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`x-${i}`, 'a']))],
  ])('get a refusal for %s', async (_, headers) => {
    const status = await new Promise<number>((resolve, reject) => {
      httpRequest(`${stack.siteUrl}/api/v1`, { headers }, (reply) => {
        reply.resume();
        resolve(reply.statusCode!);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  function rawOf(conversationId: string, messageId: string): Promise<string> {
    return eventually('the raw mail', async () => {
      const { status, body } = await tenant.client.get(
        `/conversations/${conversationId}/messages/${messageId}/raw`,
      );
      return status === 200 && (body as string);
    });
  }

  /** Sends 100 MB; the status, and by how much memory outside of V8's heap grew in between. */
  function pour(
    path: string,
    method: string,
    type: string,
    head: string,
    isTold: boolean,
  ): Promise<{ status: number; peak: number }> {
    const chunk = Buffer.alloc(MB, 'x');
    const total = 100;
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        stack.siteUrl + path,
        {
          method,
          headers: {
            Authorization: `Bearer ${tenant.key}`,
            'Content-Type': type,
            ...(isTold ? { 'Content-Length': head.length + total * MB } : {}),
          },
        },
        (reply) => {
          reply.resume();
          const status = reply.statusCode!;
          outgoing.destroy();
          resolve({ status, peak });
        },
      );
      outgoing.on('error', reject);
      outgoing.write(head);
      let sent = 0;
      const more = (): void => {
        while (sent < total) {
          sent += 1;
          peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
          if (!outgoing.write(chunk)) {
            outgoing.once('drain', more);
            return;
          }
        }
        outgoing.end();
      };
      more();
    });
  }
});

function compile(schema: unknown): (body: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats(ajv);
  return ajv.compile(schema as Schema);
}

/** Paths of all fields of an object schema, through nested objects and lists. */
function fieldsOf(root: Schema): string[][] {
  const found = new Map<string, string[]>();
  const walk = (at: Schema, path: string[], depth: number): void => {
    const reference = at['$ref'];
    if (typeof reference === 'string') {
      walk((root['$defs'] as Record<string, Schema>)[reference.split('/').at(-1)!]!, path, depth);
    }
    if (path.length > 0) found.set(path.join('.'), path);
    if (depth === 0) return;
    for (const kind of ['anyOf', 'oneOf', 'allOf']) {
      for (const part of (at[kind] ?? []) as Schema[]) walk(part, path, depth);
    }
    for (const [name, part] of Object.entries((at['properties'] ?? {}) as Record<string, Schema>)) {
      walk(part, [...path, name], depth - 1);
    }
  };
  walk(root, [], 3);
  return [...found.values()];
}

/** A copy of the body with one field replaced; the objects around it are made as needed. */
function replaced(body: PlainRequest['body'], path: readonly string[], value: unknown): object {
  const [name, ...rest] = path as [string, ...string[]];
  const at = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  const inner = (at as Record<string, unknown>)[name];
  return { ...at, [name]: rest.length === 0 ? value : replaced(inner, rest, value) };
}
