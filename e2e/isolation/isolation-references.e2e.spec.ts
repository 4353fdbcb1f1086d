import type { RouteDescription } from '@dak/gateway';
import { askLikeAMiss } from './ask-like-a-miss';
import { ForeignData, idsIn, idsOf, textOf } from './foreign-data';
import { upload } from '../routes/nouns/attachments';
import { plainRequest, routeName, type PlainRequest } from '../routes/plain-requests';
import { startStack, type Stack } from '../stack/stack';
import { createTenant, type Tenant, type TenantMailbox } from '../stack/tenant';

type Schema = Record<string, unknown>;

const VICTIM = 'markvictim';
const CLOSED = `${VICTIM}-closed`;

/** Records that are not the caller's. */
interface Foreign {
  userId: string;
  departmentId: string;
  mailboxId: string;
  conversationId: string;
  messageId: string;
  attachmentId: string;
  signatureId: string;
  templateId: string;
  ruleId: string;
  webhookId: string;
  token: string;
}

interface Reference {
  /** What decides who may name the record; `later`: there are no such records yet. */
  holder: 'mailbox' | 'organization' | 'later';
  /** The fields that name it, over the caller's own request. */
  body: (foreign: Foreign) => object;
}

const mailbox = (body: Reference['body']): Reference => ({ holder: 'mailbox', body });
const organization = (body: Reference['body']): Reference => ({ holder: 'organization', body });
const later: Reference = { holder: 'later', body: () => ({}) };

/** In an action of a rule that a request makes, or names to try it. */
function inAction(
  holder: Reference['holder'],
  member: string,
  action: (foreign: Foreign) => object,
): [string, Reference][] {
  const rule = (foreign: Foreign) => ({ name: 'x', actions: [action(foreign)] });
  return [
    [`actions[].${member}`, { holder, body: rule }],
    [`rule.actions[].${member}`, { holder, body: (foreign) => ({ rule: rule(foreign) }) }],
  ];
}

/** By the field's place in the body, after the route where one field means several things. */
const REFERENCES: Readonly<Record<string, Reference>> = {
  'assigned_user_ids[]': organization(({ userId }) => ({ assigned_user_ids: [userId] })),
  'user_ids[]': organization(({ userId }) => ({ user_ids: [userId] })),
  'users[].user_id': organization(({ userId }) => ({
    users: [{ user_id: userId, access: 'read' }],
  })),
  'mentions[]': organization(({ userId }) => ({ mentions: [userId] })),
  'assignee.id': organization(({ userId }) => ({ assignee: { type: 'user', id: userId } })),
  department_id: organization(({ departmentId }) => ({ department_id: departmentId })),
  'department_ids[]': organization(({ departmentId }) => ({ department_ids: [departmentId] })),
  'POST /api/v1/conversations/bulk assignee.id': organization(({ userId }) => ({
    action: 'assign',
    assignee: { type: 'user', id: userId },
  })),
  'POST /api/v1/conversations/bulk department_id': organization(({ departmentId }) => ({
    action: 'update',
    department_id: departmentId,
  })),
  'filters.department': organization(({ departmentId }) => ({
    filters: { department: departmentId },
  })),
  'filters.mailbox': mailbox(({ mailboxId }) => ({ filters: { mailbox: mailboxId } })),
  mailbox_id: mailbox(({ mailboxId }) => ({ mailbox_id: mailboxId })),
  conversation_id: mailbox(({ conversationId }) => ({
    conversation_id: conversationId,
    mailbox_id: undefined,
    to: undefined,
    subject: undefined,
  })),
  'ids[]': mailbox(({ conversationId }) => ({ ids: [conversationId] })),
  'source_ids[]': mailbox(({ conversationId }) => ({ source_ids: [conversationId] })),
  message_id: mailbox(({ messageId }) => ({ message_id: messageId })),
  'message_ids[]': mailbox(({ messageId }) => ({ message_ids: [messageId] })),
  expected_last_message_id: mailbox(({ messageId }) => ({ expected_last_message_id: messageId })),
  attachment_id: mailbox(({ attachmentId }) => ({ attachment_id: attachmentId })),
  signature_id: mailbox(({ signatureId }) => ({ signature_id: signatureId })),
  default_signature_id: mailbox(({ signatureId }) => ({ default_signature_id: signatureId })),
  template_id: organization(({ templateId }) => ({
    template_id: templateId,
    body_text: null,
    body_html: null,
  })),
  'mailbox_ids[]': mailbox(({ mailboxId }) => ({ mailbox_ids: [mailboxId] })),
  'rule.mailbox_ids[]': mailbox(({ mailboxId }) => ({
    rule: {
      name: 'x',
      mailbox_ids: [mailboxId],
      actions: [{ type: 'add_labels', labels: ['x'] }],
    },
  })),
  ...Object.fromEntries([
    ...inAction('organization', 'user_id', ({ userId }) => ({ type: 'assign', user_id: userId })),
    ...inAction('organization', 'department_id', ({ departmentId }) => ({
      type: 'set_department',
      department_id: departmentId,
    })),
    ...inAction('organization', 'template_id', ({ templateId }) => ({
      type: 'reply_with_template',
      template_id: templateId,
    })),
    ...inAction('mailbox', 'webhook_id', ({ webhookId }) => ({
      type: 'notify_webhook',
      webhook_id: webhookId,
    })),
  ]),
  rule_id: mailbox(({ ruleId }) => ({ rule_id: ruleId, rule: undefined })),
  'attachment_tokens[]': mailbox(({ token }) => ({ attachment_tokens: [token] })),
  domain_id: later,
  policy_id: later,
  on_behalf_of_run_id: later,
};

/** Query parameters that name a record. */
const QUERIES: Readonly<Record<string, (foreign: Foreign) => string>> = {
  mailbox: ({ mailboxId }) => mailboxId,
  conversation: ({ conversationId }) => conversationId,
  department: ({ departmentId }) => departmentId,
  assignee: ({ userId }) => userId,
  actor: ({ userId }) => userId,
  target: ({ departmentId }) => departmentId,
};

/** Fields and parameters that hold an id and are documented as text. */
const TEXT_FIELDS: readonly string[] = ['attachment_tokens[]'];
const TEXT_QUERIES: readonly string[] = ['assignee', 'actor', 'target'];

/** A miss is no error there. */
const ANSWERS_MISSES: readonly string[] = [
  // A result per record, and those that match.
  'POST /api/v1/conversations/bulk ids[]',
  'POST /api/v1/search filters.mailbox',
  'POST /api/v1/search filters.department',
  // A draft may be incomplete: what it names is looked for when it is sent.
  'POST /api/v1/drafts signature_id',
  'POST /api/v1/drafts template_id',
  'PATCH /api/v1/drafts/{id} template_id',
  'PATCH /api/v1/drafts/{id} signature_id',
  // Means something in an answer only, and the plain request is a new mail.
  'POST /api/v1/compose/preview expected_last_message_id',
  'POST /api/v1/drafts expected_last_message_id',
  'PATCH /api/v1/drafts/{id} expected_last_message_id',
];

describe('ids that requests name in their body and query', () => {
  let stack: Stack;
  let victim: Tenant;
  let outsider: Tenant;
  let closed: Foreign;

  beforeAll(async () => {
    stack = await startStack();
    victim = await createTenant(stack, VICTIM, 24);
    outsider = await createTenant(stack, 'markoutsider', 24);
    closed = await foreignOf(victim, victim.closed);
  }, 120_000);
  afterAll(async () => {
    await stack.close();
  });

  it.each(['another organization', 'a mailbox that the caller does not see'])(
    'are as good as ids of nothing when they are of %s',
    async (whose) => {
      const isOutside = whose === 'another organization';
      const [caller, credential] = isOutside
        ? [outsider, outsider.key]
        : [victim, victim.member.session];
      const client = stack.client(credential);
      const { scopes } = (await client.get('/')).body.principal;
      const seen = new ForeignData(isOutside ? VICTIM : CLOSED);
      const wrong: unknown[] = [];
      let tried = 0;
      for (const { route, name, change, answersMisses } of references(isOutside)) {
        if (route.access !== 'scopes' || !route.anyOf.some((scope) => scopes.includes(scope))) {
          continue;
        }
        const own = await plainRequest(route, stack, caller, caller.open);
        const request = change(own);
        tried += 1;
        const { status, problem } = await askLikeAMiss(
          client,
          route,
          request,
          seen,
          idsIn(textOf(own)),
        );
        const isRefused = [400, 404, 409, 422].includes(status);
        if (problem !== null || isRefused === answersMisses) wrong.push([name, status, problem]);
      }
      expect(wrong).toEqual([]);
      expect(tried).toBeGreaterThan(30);
      const ids = await idsOf(stack, victim.organizationId, isOutside ? null : victim.closed.id);
      expect(seen.leaks(ids)).toEqual([]);
      expect(stack.failures).toEqual([]);
    },
    120_000,
  );

  it('are refused in a draft when it is sent', async () => {
    const { client, open } = outsider;
    const made = await client.post('/drafts', {
      mailbox_id: open.id,
      to: ['somebody@elsewhere.example'],
      body_text: 'Hello.',
      signature_id: closed.signatureId,
    });
    const sent = await client.post(`/drafts/${made.body.id}/send`);
    expect([sent.status, sent.body.error]).toEqual([
      400,
      'signature_id names no signature of this mailbox.',
    ]);
  });

  it('do not include the place in a list of somebody else', async () => {
    for (const route of stack.gateway.routeTable()) {
      if (route.access !== 'scopes' || route.method !== 'GET') continue;
      if (!queryNames(route).includes('cursor')) continue;
      const { params } = await plainRequest(route, stack, victim, victim.open);
      const path = pathWith(route, params);
      const { body } = await stack.client(victim.key).get(`${path}?per_page=1`);
      if (body.next_cursor === null) continue;
      const own = await plainRequest(route, stack, outsider, outsider.open);
      const stolen = `${pathWith(route, own.params)}?per_page=1&cursor=${encodeURIComponent(body.next_cursor)}`;
      const { status } = await stack.client(outsider.key).get(stolen);
      expect([route.path, status]).toEqual([route.path, 400]);
    }
  });

  /** Every place of every route that holds an id, with the request that puts a foreign one there. */
  function references(isOutside: boolean) {
    return stack.gateway.routeTable().flatMap((route) => {
      const inBody = idFields(route.bodySchema).flatMap((field) => {
        const name = `${routeName(route)} ${field}`;
        const reference = REFERENCES[name] ?? REFERENCES[field];
        if (reference === undefined) throw new Error(`${name}: nobody says whose id it is`);
        if (reference.holder === 'later') return [];
        if (reference.holder === 'organization' && !isOutside) return [];
        const change = (own: PlainRequest): PlainRequest => ({
          ...own,
          body: { ...(own.body as object), ...reference.body(closed) },
        });
        return [{ route, name, change, answersMisses: ANSWERS_MISSES.includes(name) }];
      });
      const inQuery = idQueries(route).flatMap((field) => {
        const value = QUERIES[field];
        if (value === undefined) throw new Error(`${routeName(route)} ?${field}: whose id is it?`);
        const change = (own: PlainRequest): PlainRequest => ({
          ...own,
          query: { ...own.query, [field]: value(closed) },
        });
        const isOwn = !['mailbox', 'conversation'].includes(field) && !isOutside;
        const name = `${routeName(route)} ?${field}`;
        return isOwn ? [] : [{ route, name, change, answersMisses: true }];
      });
      return [...inBody, ...inQuery];
    });
  }

  function queryNames(route: RouteDescription): string[] {
    return parametersOf(route).map(({ name }) => name);
  }

  function idQueries(route: RouteDescription): string[] {
    return parametersOf(route)
      .filter(({ name, schema }) => schema['format'] === 'uuid' || TEXT_QUERIES.includes(name))
      .map(({ name }) => name);
  }

  function parametersOf(route: RouteDescription): { name: string; schema: Schema }[] {
    const paths = stack.gateway.openApi()['paths'] as Record<string, Record<string, unknown>>;
    const path = route.path.replace('/api/v1', '') || '/';
    const item = paths[path] ?? paths[route.path];
    const operation = item?.[route.method.toLowerCase()] as {
      parameters: { name: string; in: string; schema: Schema }[];
    };
    return operation.parameters.filter((parameter) => parameter.in === 'query');
  }
});

async function foreignOf(tenant: Tenant, box: TenantMailbox): Promise<Foreign> {
  const signature = await tenant.client.post('/signatures', {
    name: `${box.marker} signature`,
    body_text: box.marker,
    mailbox_id: box.id,
  });
  const template = await tenant.client.post('/templates', {
    name: `${box.marker} template`,
    body_text: box.marker,
  });
  const rule = await tenant.client.post('/rules', {
    name: `${box.marker} rule`,
    mailbox_ids: [box.id],
    conditions: [{ field: 'subject', operator: 'equals', value: box.marker }],
    actions: [{ type: 'add_labels', labels: ['lamp'] }],
  });
  const webhook = await tenant.client.post('/webhooks', {
    url: `http://127.0.0.1:9/${box.marker}`,
    event_types: ['domain.verified'],
  });
  return {
    userId: tenant.admin.id,
    departmentId: tenant.departmentId,
    mailboxId: box.id,
    conversationId: box.conversation.id,
    messageId: box.conversation.messageIds[0],
    attachmentId: box.conversation.attachmentId,
    signatureId: signature.body.id,
    templateId: template.body.id,
    ruleId: rule.body.id,
    webhookId: webhook.body.id,
    token: (await upload(tenant.client, box.marker)).token,
  };
}

function pathWith(route: RouteDescription, params: Record<string, string> = {}): string {
  return `/${route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!)}`;
}

/** Places of a JSON Schema that hold a UUID, such as `users[].user_id`. */
function idFields(schema: unknown): string[] {
  const root = schema as Schema | null;
  const found = new Set<string>();
  const walk = (at: Schema, path: string): void => {
    const reference = at['$ref'];
    if (typeof reference === 'string') {
      walk((root!['$defs'] as Record<string, Schema>)[reference.split('/').at(-1)!]!, path);
    }
    if (at['format'] === 'uuid' || TEXT_FIELDS.includes(path)) found.add(path);
    for (const kind of ['anyOf', 'oneOf', 'allOf']) {
      for (const part of (at[kind] ?? []) as Schema[]) walk(part, path);
    }
    for (const [name, part] of Object.entries((at['properties'] ?? {}) as Record<string, Schema>)) {
      walk(part, path === '' ? name : `${path}.${name}`);
    }
    if (at['items'] !== undefined) walk(at['items'] as Schema, `${path}[]`);
  };
  if (root !== null) walk(root, '');
  return [...found].sort();
}
