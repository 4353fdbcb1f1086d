import { randomUUID } from 'node:crypto';
import type { RouteDescription } from '@dak/gateway';
import type { ApiClient, ApiReply } from '@dak/testing/api-client';
import type { Stack } from '../stack/stack';
import { signIn, superadminSession, type Tenant, type TenantMailbox } from '../stack/tenant';

/** A request that its route answers with success, when whoever may send it does so. */
export interface PlainRequest {
  params?: Record<string, string>;
  query?: Record<string, string>;
  /** An object is sent as JSON; bytes and forms as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** What decides who reaches the record that a request is about. */
export type Holder =
  /** Whoever sees the mailbox. */
  | 'mailbox'
  /** Everybody of the organization who has the scope. */
  | 'organization'
  /** Who made it. */
  | 'maker'
  /** Superadmins. */
  | 'platform'
  /** Everybody, or whoever has the secret that is in the request. */
  | 'nobody';

export interface PlainRoute {
  holder: Holder;
  /** Makes what the request needs, as the admin, in this mailbox. */
  prepare(stack: Stack, tenant: Tenant, mailbox: TenantMailbox): Promise<PlainRequest>;
}

type Prepare = (parts: {
  stack: Stack;
  tenant: Tenant;
  mailbox: TenantMailbox;
  client: ApiClient;
}) => PlainRequest | Promise<PlainRequest>;

const PASSWORD = 'a long enough password';
const CONVERSATION = '/api/v1/conversations/{id}';
const REPLAY = { since: '2026-01-01T00:00:00Z', types: ['domain.verified'], only_failed: true };
const MESSAGE = `${CONVERSATION}/messages/{mid}`;

/**
 * One for every route of the table, by `METHOD path`; `plainRoute` fails for a route without, so that
 * whoever adds a route decides here how it is called and who may.
 */
const PLAIN_ROUTES: Readonly<Record<string, PlainRoute>> = {
  'GET /api/v1': plain('organization'),
  'GET /api/v1/capabilities': plain('organization'),
  'GET /api/v1/openapi.json': plain('nobody'),
  'GET /docs': plain('nobody'),
  'GET /docs/{file}': plain('nobody', () => ({ params: { file: 'swagger-ui.css' } })),

  'GET /api/v1/analytics/overview': plain('organization', () => ({
    query: { granularity: 'week', time_zone: 'Asia/Kolkata' },
  })),
  'GET /api/v1/reports/volume': plain('organization'),
  'GET /api/v1/reports/response-times': plain('organization'),
  'GET /api/v1/reports/deliverability': plain('organization'),
  'GET /api/v1/reports/workload': plain('organization', () => ({
    query: { from: '2026-01-01', granularity: 'month' },
  })),

  'GET /api/v1/mailboxes': plain('mailbox'),
  'POST /api/v1/mailboxes': plain('organization', ({ tenant }) => ({
    body: {
      address: `${tenant.unique()}@${tenant.domain}`,
      display_name: tenant.unique(),
      assigned_user_ids: [tenant.member.id],
      department_ids: [tenant.departmentId],
    },
  })),
  'GET /api/v1/mailboxes/{id}': inMailbox(),
  'PATCH /api/v1/mailboxes/{id}': inMailbox({ display_name: 'Renamed', agent_mode: 'off' }),
  'DELETE /api/v1/mailboxes/{id}': plain('mailbox', async ({ tenant, client }) => ({
    params: await idOf(
      client.post('/mailboxes', { address: `${tenant.unique()}@${tenant.domain}` }),
    ),
  })),
  'POST /api/v1/mailboxes/{id}/restore': plain('mailbox', async ({ tenant, client }) => {
    const params = await idOf(
      client.post('/mailboxes', { address: `${tenant.unique()}@${tenant.domain}` }),
    );
    await client.delete(`/mailboxes/${params.id}`);
    return { params };
  }),
  'GET /api/v1/mailboxes/{id}/assignments': inMailbox(),
  'PUT /api/v1/mailboxes/{id}/assignments': plain('mailbox', async ({ mailbox, client }) => {
    const { body } = await client.get(`/mailboxes/${mailbox.id}/assignments`);
    return { params: { id: mailbox.id }, body };
  }),
  'GET /api/v1/mailboxes/{id}/connection': inMailbox(),

  'GET /api/v1/conversations': plain('mailbox', ({ mailbox, tenant }) => ({
    query: { mailbox: mailbox.id, status: 'all', per_page: '10', q: tenant.marker },
  })),
  [`GET ${CONVERSATION}`]: inConversation(),
  [`PATCH ${CONVERSATION}`]: inConversation({ priority: 'high', metadata: { seen: true } }),
  [`POST ${CONVERSATION}/labels`]: inConversation({ add: ['lamp'], remove: ['chair'] }),
  [`POST ${CONVERSATION}/snooze`]: plain('mailbox', ({ mailbox }) => ({
    params: { id: mailbox.takeConversation().id },
    body: { until: inHours(48), wake_on_reply: true },
  })),
  [`DELETE ${CONVERSATION}/snooze`]: plain('mailbox', async ({ mailbox, client }) => {
    const { id } = mailbox.takeConversation();
    await client.post(`/conversations/${id}/snooze`, {});
    return { params: { id } };
  }),
  [`POST ${CONVERSATION}/assign`]: plain('mailbox', ({ mailbox, tenant }) => ({
    params: { id: mailbox.takeConversation().id },
    body: { assignee: { type: 'user', id: tenant.admin.id }, note: `${mailbox.marker} note` },
  })),
  [`POST ${CONVERSATION}/merge`]: plain('mailbox', ({ mailbox }) => ({
    params: { id: mailbox.takeConversation().id },
    body: { source_ids: [mailbox.takeConversation().id] },
  })),
  [`POST ${CONVERSATION}/split`]: plain('mailbox', ({ mailbox }) => {
    const { id, messageIds } = mailbox.takeConversation();
    return { params: { id }, body: { message_ids: [messageIds[1]] } };
  }),
  'POST /api/v1/conversations/bulk': plain('mailbox', ({ mailbox }) => ({
    body: { ids: [mailbox.conversation.id], action: 'labels', add: ['bulk'] },
  })),
  [`GET ${CONVERSATION}/messages`]: inConversation(),
  [`GET ${MESSAGE}`]: plain('mailbox', ({ mailbox }) => ({
    params: messageParams(mailbox),
    query: { include: 'headers', raw_html: 'true' },
  })),
  [`GET ${MESSAGE}/raw`]: plain('mailbox', ({ mailbox }) => ({ params: messageParams(mailbox) })),
  [`POST ${CONVERSATION}/notes`]: plain('mailbox', ({ mailbox, tenant }) => ({
    params: { id: mailbox.conversation.id },
    body: { body_text: `${mailbox.marker} note`, mentions: [tenant.member.id] },
  })),
  [`GET ${CONVERSATION}/activity`]: inConversation(),

  'GET /api/v1/labels': plain('organization'),
  'POST /api/v1/labels': plain('organization', ({ tenant }) => ({ body: labelBody(tenant) })),
  'PATCH /api/v1/labels/{id}': plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/labels', labelBody(tenant))),
    body: { color: '#123456' },
  })),
  'DELETE /api/v1/labels/{id}': plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/labels', labelBody(tenant))),
  })),
  'POST /api/v1/search': plain('mailbox', ({ mailbox }) => ({
    body: { q: 'lamp', filters: { mailbox: mailbox.id }, types: ['conversation', 'message'] },
  })),

  'POST /api/v1/compose/send': plain('mailbox', ({ mailbox, tenant }) => ({
    body: composeBody(mailbox, tenant),
  })),
  [`POST ${CONVERSATION}/reply`]: inConversation({
    body_text: 'Have you tried another bulb?',
    cc: [],
    bcc: [],
    attachment_tokens: [],
  }),
  [`POST ${CONVERSATION}/forward`]: plain('mailbox', ({ mailbox }) => ({
    params: { id: mailbox.conversation.id },
    body: {
      message_id: mailbox.conversation.messageIds[0],
      to: ['expert@elsewhere.example'],
      body_text: 'Please look.',
    },
  })),
  'POST /api/v1/compose/preview': plain('mailbox', ({ mailbox, tenant }) => ({
    body: composeBody(mailbox, tenant),
  })),

  'GET /api/v1/drafts': plain('mailbox', ({ mailbox }) => ({ query: { mailbox: mailbox.id } })),
  'POST /api/v1/drafts': plain('mailbox', ({ mailbox, tenant }) => ({
    body: composeBody(mailbox, tenant),
  })),
  'GET /api/v1/drafts/{id}': withDraft(),
  'PATCH /api/v1/drafts/{id}': withDraft({ subject: 'Another subject' }),
  'DELETE /api/v1/drafts/{id}': withDraft(),
  'POST /api/v1/drafts/{id}/send': withDraft(),

  'GET /api/v1/signatures': plain('mailbox'),
  'POST /api/v1/signatures': plain('mailbox', ({ mailbox }) => ({ body: signatureBody(mailbox) })),
  'PATCH /api/v1/signatures/{id}': withSignature({ name: 'Renamed' }),
  'DELETE /api/v1/signatures/{id}': withSignature(),

  'GET /api/v1/templates': plain('organization'),
  'POST /api/v1/templates': plain('organization', ({ tenant }) => ({ body: templateBody(tenant) })),
  'GET /api/v1/templates/{id}': withTemplate(),
  'PATCH /api/v1/templates/{id}': withTemplate({ name: 'Renamed' }),
  'DELETE /api/v1/templates/{id}': withTemplate(),
  'POST /api/v1/templates/{id}/preview': withTemplate({ variables: { name: 'Asha' } }),
  'GET /api/v1/templates/{id}/versions': withTemplate(),
  'GET /api/v1/templates/{id}/versions/{version}': plain(
    'organization',
    async ({ tenant, client }) => ({
      params: { ...(await idOf(client.post('/templates', templateBody(tenant)))), version: '1' },
    }),
  ),

  'GET /api/v1/events/stream': plain('organization', () => ({ query: { seconds: '0' } })),
  'GET /api/v1/webhooks/event-types': plain('organization'),
  'GET /api/v1/webhooks': plain('maker'),
  'POST /api/v1/webhooks': plain('mailbox', ({ mailbox }) => ({ body: webhookBody(mailbox) })),
  'GET /api/v1/webhooks/{id}': withWebhook(),
  'PATCH /api/v1/webhooks/{id}': withWebhook({ description: 'Renamed', ordering: 'conversation' }),
  'DELETE /api/v1/webhooks/{id}': withWebhook(),
  'POST /api/v1/webhooks/{id}/rotate-secret': withWebhook({ overlap_hours: 1 }),
  'POST /api/v1/webhooks/{id}/test': withWebhook({ event_type: 'mail.sent' }),
  'GET /api/v1/webhooks/{id}/deliveries': withWebhook(),
  'GET /api/v1/webhooks/{id}/deliveries/{did}': withWebhookDelivery(),
  'GET /api/v1/webhooks/{id}/deliveries/{did}/attempts': withWebhookDelivery(),
  'POST /api/v1/webhooks/{id}/deliveries/{did}/retry': withWebhookDelivery(),
  'POST /api/v1/webhooks/{id}/replay': withWebhook(REPLAY),
  'GET /api/v1/webhooks/{id}/replays/{rid}': plain('maker', async ({ mailbox, client }) => {
    const { id } = await idOf(client.post('/webhooks', webhookBody(mailbox)));
    const { body } = await client.post(`/webhooks/${id}/replay`, REPLAY);
    return { params: { id, rid: body.id } };
  }),
  'GET /api/v1/settings/webhook-secret': plain('organization'),
  'PUT /api/v1/settings/webhook-secret': plain('organization', () => ({
    body: { overlap_hours: 2 },
  })),

  'GET /api/v1/rules': plain('mailbox'),
  'POST /api/v1/rules': plain('mailbox', ({ mailbox, tenant }) => ({
    body: ruleBody(mailbox, tenant),
  })),
  'GET /api/v1/rules/{id}': withRule(),
  'PATCH /api/v1/rules/{id}': withRule({ name: 'Renamed', enabled: false }),
  'DELETE /api/v1/rules/{id}': withRule(),
  'GET /api/v1/rules/{id}/versions': withRule(),
  'GET /api/v1/rules/{id}/runs': withRule(),
  [`GET ${CONVERSATION}/rule-runs`]: inConversation(),
  'POST /api/v1/rules/test': plain('mailbox', ({ mailbox, tenant }) => ({
    body: {
      rule: ruleBody(mailbox, tenant),
      message_id: mailbox.conversation.messageIds[0],
    },
  })),
  'POST /api/v1/rules/dry-run': plain('mailbox', ({ mailbox, tenant }) => ({
    body: { rule: ruleBody(mailbox, tenant) },
  })),
  'GET /api/v1/rules/dry-run/{id}': plain('mailbox', async ({ mailbox, tenant, client }) => {
    const { body } = await client.post('/rules/dry-run', { rule: ruleBody(mailbox, tenant) });
    return { params: { id: body.id } };
  }),

  'GET /api/v1/outbox': plain('mailbox', ({ mailbox }) => ({ query: { mailbox: mailbox.id } })),
  'GET /api/v1/outbox/{id}': withScheduledMail(),
  'PATCH /api/v1/outbox/{id}': withScheduledMail({ send_at: inHours(72) }),
  'DELETE /api/v1/outbox/{id}': withScheduledMail(),

  'POST /api/v1/attachments': plain('organization', ({ tenant }) => ({
    body: uploadForm(tenant.unique()),
  })),
  'POST /api/v1/attachments/uploads': plain('organization', ({ tenant }) => ({
    body: { filename: `${tenant.unique()}.txt`, content_type: 'text/plain', size_bytes: 3 },
  })),
  'PUT /api/public/uploads/{ticket}': plain('nobody', async ({ client }) => {
    const { body } = await client.post('/attachments/uploads', {
      filename: 'a.txt',
      size_bytes: 3,
    });
    return {
      params: { ticket: lastSegment(body.upload_url) },
      body: Buffer.from('abc'),
      headers: { 'Content-Type': 'application/octet-stream' },
    };
  }),
  'POST /api/v1/attachments/from-message': plain('mailbox', ({ mailbox }) => ({
    body: {
      message_id: mailbox.conversation.messageIds[0],
      attachment_id: mailbox.conversation.attachmentId,
    },
  })),
  'DELETE /api/v1/attachments/{token}': plain('maker', async ({ tenant, client }) => ({
    params: { token: (await upload(client, tenant.unique())).token },
  })),
  [`GET ${MESSAGE}/attachments/{aid}`]: plain('mailbox', ({ mailbox }) => ({
    params: { ...messageParams(mailbox), aid: mailbox.conversation.attachmentId },
  })),
  'GET /api/public/attachments/{ticket}': plain('nobody', async ({ mailbox, client }) => {
    const { id, mid } = messageParams(mailbox);
    const aid = mailbox.conversation.attachmentId;
    const { body } = await client.get(`/conversations/${id}/messages/${mid}/attachments/${aid}`);
    return { params: { ticket: lastSegment(body.download_url) } };
  }),
  'POST /api/v1/mailboxes/{id}/imports': plain('mailbox', ({ mailbox, tenant }) => ({
    params: { id: mailbox.id },
    ...importOf(tenant.unique()),
  })),
  'GET /api/v1/imports/{id}': plain('mailbox', async ({ stack, mailbox, tenant }) => {
    const { body, headers } = importOf(tenant.unique());
    const made = await stack
      .client(tenant.key)
      .call('POST', `/mailboxes/${mailbox.id}/imports`, { body, headers });
    return { params: { id: made.body.id } };
  }),

  'POST /api/v1/auth/login': plain('nobody', ({ tenant }) => ({
    body: { email: tenant.admin.email, password: tenant.admin.password },
  })),
  'POST /api/v1/auth/refresh': plain('nobody', refreshCookie),
  'POST /api/v1/auth/logout': plain('nobody', refreshCookie),
  'PATCH /api/v1/auth/password': plain('maker', () => ({
    body: { current: PASSWORD, new: PASSWORD },
  })),
  'GET /api/v1/auth/sessions': plain('maker'),
  'DELETE /api/v1/auth/sessions/{id}': plain('maker', async ({ stack, tenant }) => {
    const { session } = await signIn(stack, tenant.admin);
    const { body } = await stack.client(session).get('/auth/sessions');
    return { params: { id: body.data.find((one: { current: boolean }) => one.current).id } };
  }),
  'POST /api/v1/auth/accept-invite': plain('nobody', async ({ stack, tenant }) => {
    const admin = stack.client(tenant.admin.session);
    const { body } = await admin.post('/settings/users', userBody(tenant));
    return { body: { token: body.invite_token, password: PASSWORD } };
  }),

  'GET /api/v1/settings/users': plain('organization'),
  'POST /api/v1/settings/users': plain('organization', ({ tenant }) => ({
    body: { ...userBody(tenant), department_ids: [tenant.departmentId] },
  })),
  'GET /api/v1/settings/users/{id}': withUser(),
  'PATCH /api/v1/settings/users/{id}': withUser({ display_name: 'Renamed' }),
  'POST /api/v1/settings/users/{id}/invite': withUser(),
  'GET /api/v1/settings/api-keys': plain('organization'),
  'POST /api/v1/settings/api-keys': plain('organization', ({ tenant }) => ({
    body: keyBody(tenant),
  })),
  'GET /api/v1/settings/api-keys/{id}': withKey(),
  'DELETE /api/v1/settings/api-keys/{id}': withKey(),
  'GET /api/v1/departments': plain('organization'),
  'POST /api/v1/departments': plain('organization', ({ tenant }) => ({
    body: { name: tenant.unique() },
  })),
  'GET /api/v1/departments/{id}': withDepartment(),
  'PATCH /api/v1/departments/{id}': withDepartment({ description: 'Another text' }),
  'PUT /api/v1/departments/{id}/members': plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/departments', { name: tenant.unique() })),
    body: { user_ids: [tenant.member.id] },
  })),
  'DELETE /api/v1/departments/{id}': withDepartment(),
  'GET /api/v1/settings/organization': plain('organization'),
  'PATCH /api/v1/settings/organization': plain('organization', () => ({
    body: { time_zone: 'Asia/Kolkata' },
  })),

  'GET /api/v1/admin/organizations': plain('platform'),
  'POST /api/v1/admin/organizations': plain('platform', ({ tenant }) => ({
    body: {
      name: tenant.unique(),
      admin: { email: `${tenant.unique()}@elsewhere.example`, display_name: 'First Admin' },
    },
  })),
  'GET /api/v1/admin/organizations/{id}': plain('platform', ({ tenant }) => ({
    params: { id: tenant.organizationId },
  })),
  'POST /api/v1/admin/organizations/{id}/erase': plain('platform', async ({ stack }) => {
    const { id, name } = await suspendedOrganization(stack);
    return { params: { id }, body: { name } };
  }),
  'GET /api/v1/admin/organizations/{id}/erase': plain('platform', async ({ stack }) => {
    const { id, name } = await suspendedOrganization(stack);
    const platform = stack.client(await superadminSession(stack));
    await platform.post(`/admin/organizations/${id}/erase`, { name });
    return { params: { id } };
  }),
  'PATCH /api/v1/admin/organizations/{id}': plain('platform', ({ tenant }) => ({
    params: { id: tenant.organizationId },
    body: { status: 'active' },
  })),
  'GET /api/v1/admin/operations': plain('platform'),
  'PATCH /api/v1/admin/operations': plain('platform', () => ({ body: { outgoing: 'run' } })),
  'PUT /api/v1/admin/organizations/{id}/domains': plain('platform', ({ tenant }) => ({
    params: { id: tenant.organizationId },
    body: { domains: [tenant.domain] },
  })),
  'GET /api/v1/domains': plain('organization'),
  'POST /api/v1/domains': plain('organization', ({ tenant }) => ({ body: domainBody(tenant) })),
  'GET /api/v1/domains/{id}': onDomain(),
  'DELETE /api/v1/domains/{id}': onDomain(),
  'POST /api/v1/domains/{id}/verify': onDomain(),
  'GET /api/v1/audit': plain('organization', ({ tenant }) => ({
    query: { actor: tenant.admin.id },
  })),
  'GET /api/v1/audit/verify': plain('organization'),
};

/** Conversations that the preparations of one mailbox take away. */
export const STOCK_PER_ROUND = 6;

export function routeName(route: Pick<RouteDescription, 'method' | 'path'>): string {
  return `${route.method} ${route.path}`;
}

/** @throws Error for a route that nobody has told how to call */
export function plainRoute(route: Pick<RouteDescription, 'method' | 'path'>): PlainRoute {
  const known = PLAIN_ROUTES[routeName(route)];
  if (known === undefined) {
    throw new Error(`${routeName(route)} has no plain request: write one into plain-requests.ts`);
  }
  return known;
}

export function plainRouteNames(): string[] {
  return Object.keys(PLAIN_ROUTES);
}

/** The path from the site's root, as `ApiClient` takes it. */
export function pathOf(route: Pick<RouteDescription, 'path'>, request: PlainRequest): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.params?.[name];
    if (value === undefined) throw new Error(`${route.path}: nothing for {${name}}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(request.query).toString();
  return `/${path}${query === '' ? '' : `?${query}`}`;
}

export function send(
  client: ApiClient,
  route: Pick<RouteDescription, 'method' | 'path'>,
  request: PlainRequest,
  headers: Record<string, string> = {},
): Promise<ApiReply> {
  return client.call(route.method, pathOf(route, request), {
    ...(request.body === undefined ? {} : { body: request.body }),
    headers: { ...request.headers, ...headers },
  });
}

function plain(holder: Holder, prepare: Prepare = () => ({})): PlainRoute {
  return {
    holder,
    prepare: async (stack, tenant, mailbox) =>
      prepare({ stack, tenant, mailbox, client: tenant.client }),
  };
}

function inMailbox(body?: object): PlainRoute {
  return plain('mailbox', ({ mailbox }) => ({
    params: { id: mailbox.id },
    ...(body === undefined ? {} : { body }),
  }));
}

function inConversation(body?: object): PlainRoute {
  return plain('mailbox', ({ mailbox }) => ({
    params: { id: mailbox.conversation.id },
    ...(body === undefined ? {} : { body }),
  }));
}

function withDraft(body?: object): PlainRoute {
  return plain('mailbox', async ({ mailbox, tenant, client }) => ({
    params: await idOf(client.post('/drafts', composeBody(mailbox, tenant))),
    ...(body === undefined ? {} : { body }),
  }));
}

function withSignature(body?: object): PlainRoute {
  return plain('mailbox', async ({ mailbox, client }) => ({
    params: await idOf(client.post('/signatures', signatureBody(mailbox))),
    ...(body === undefined ? {} : { body }),
  }));
}

function withTemplate(body?: object): PlainRoute {
  return plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/templates', templateBody(tenant))),
    ...(body === undefined ? {} : { body }),
  }));
}

function withRule(body?: object): PlainRoute {
  return plain('mailbox', async ({ mailbox, tenant, client }) => ({
    params: await idOf(client.post('/rules', ruleBody(mailbox, tenant))),
    ...(body === undefined ? {} : { body }),
  }));
}

function withWebhook(body?: object): PlainRoute {
  return plain('maker', async ({ mailbox, client }) => ({
    params: await idOf(client.post('/webhooks', webhookBody(mailbox))),
    ...(body === undefined ? {} : { body }),
  }));
}

function withWebhookDelivery(): PlainRoute {
  return plain('maker', async ({ mailbox, client }) => {
    const { id } = await idOf(client.post('/webhooks', webhookBody(mailbox)));
    const { body } = await client.post(`/webhooks/${id}/test`, {});
    return { params: { id, did: body.id } };
  });
}

function withScheduledMail(body?: object): PlainRoute {
  return plain('mailbox', async ({ mailbox, tenant, client }) => ({
    params: await idOf(
      client.post('/compose/send', { ...composeBody(mailbox, tenant), send_at: inHours(24) }),
    ),
    ...(body === undefined ? {} : { body }),
  }));
}

function withUser(body?: object): PlainRoute {
  return plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/settings/users', userBody(tenant))),
    ...(body === undefined ? {} : { body }),
  }));
}

function withKey(): PlainRoute {
  return plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/settings/api-keys', keyBody(tenant))),
  }));
}

function withDepartment(body?: object): PlainRoute {
  return plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/departments', { name: tenant.unique() })),
    ...(body === undefined ? {} : { body }),
  }));
}

function messageParams({ conversation }: TenantMailbox): { id: string; mid: string } {
  return { id: conversation.id, mid: conversation.messageIds[0] };
}

function composeBody(mailbox: TenantMailbox, tenant: Tenant): object {
  return {
    mailbox_id: mailbox.id,
    to: [`Somebody <somebody@${mailbox.marker}.example>`],
    cc: [],
    bcc: [],
    subject: `${mailbox.marker} ${tenant.unique()}`,
    body_text: `${mailbox.marker} text`,
    body_html: `<p>${mailbox.marker} text</p>`,
    attachment_tokens: [],
    encrypt: false,
  };
}

function signatureBody({ id, marker }: TenantMailbox): object {
  return { name: `${marker} signature`, body_text: `${marker} regards`, mailbox_id: id };
}

function templateBody(tenant: Tenant): object {
  return {
    name: `${tenant.marker} template`,
    alias: tenant.unique().toLowerCase(),
    subject: `${tenant.marker} for {{name}}`,
    body_html: `<p>${tenant.marker} {{name}}</p>`,
    variables: [{ name: 'name', type: 'string', fallback: 'you' }],
  };
}

/** Nobody listens at the port, and nothing of the kind happens. */
function webhookBody({ id, marker }: TenantMailbox): object {
  return {
    url: `http://127.0.0.1:9/${marker}`,
    description: `${marker} webhook`,
    event_types: ['domain.verified'],
    mailbox_ids: [id],
    headers: { 'X-Token': `${marker}-token` },
  };
}

function ruleBody({ id, marker }: TenantMailbox, tenant: Tenant): object {
  const subject = `${marker} ${tenant.unique()}`;
  return {
    name: `${subject} rule`,
    kind: 'labeling',
    mailbox_ids: [id],
    conditions: [{ field: 'subject', operator: 'equals', value: subject }],
    actions: [{ type: 'add_labels', labels: ['lamp'] }],
  };
}

function domainBody(tenant: Tenant): object {
  return { name: `${tenant.unique()}.example` };
}

function onDomain(): PlainRoute {
  return plain('organization', async ({ tenant, client }) => ({
    params: await idOf(client.post('/domains', domainBody(tenant))),
  }));
}

function labelBody(tenant: Tenant): object {
  return { name: tenant.unique(), color: '#abcdef', description: `${tenant.marker} label` };
}

function userBody(tenant: Tenant): object {
  return { email: `${tenant.unique()}@elsewhere.example`, display_name: tenant.unique() };
}

function keyBody(tenant: Tenant): object {
  return { name: tenant.unique(), scopes: ['mail.read'] };
}

function uploadForm(marker: string): FormData {
  const form = new FormData();
  form.set('file', new File([`${marker} content`], `${marker}.txt`, { type: 'text/plain' }));
  return form;
}

/** A file of the caller, to be sent with a mail. */
export async function upload(
  client: ApiClient,
  marker: string,
): Promise<{ token: string; filename: string }> {
  const { body } = await client.post('/attachments', uploadForm(marker));
  return body;
}

function importOf(marker: string): { body: Buffer; headers: Record<string, string> } {
  const text = `From: x@elsewhere.example\r\nSubject: ${marker}\r\nMessage-ID: <${marker}@elsewhere.example>\r\n\r\n${marker}\r\n`;
  return { body: Buffer.from(text), headers: { 'Content-Type': 'message/rfc822' } };
}

async function refreshCookie({ stack, tenant }: Parameters<Prepare>[0]): Promise<PlainRequest> {
  const { email, password } = tenant.admin;
  const { headers } = await stack.client().post('/auth/login', { email, password });
  return { headers: { Cookie: headers.get('set-cookie')!.split(';')[0]! } };
}

async function idOf(reply: Promise<ApiReply>): Promise<{ id: string }> {
  const { status, body } = await reply;
  if (status !== 201) throw new Error(`got ${status} ${JSON.stringify(body)}`);
  return { id: body.id };
}

function lastSegment(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** RFC 3339. */
function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}

/** An id that no record has. */
export function missingId(): string {
  return randomUUID();
}

/** Made for the purpose of being erased. */
async function suspendedOrganization(stack: Stack): Promise<{ id: string; name: string }> {
  const platform = stack.client(await superadminSession(stack));
  const name = `Erased ${randomUUID()}`;
  const { body } = await platform.post('/admin/organizations', {
    name,
    admin: { email: `${randomUUID()}@erased.example`, display_name: 'Admin' },
  });
  await platform.patch(`/admin/organizations/${body.id}`, { status: 'suspended' });
  return { id: body.id, name };
}
