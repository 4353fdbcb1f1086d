import { Webhook } from 'standardwebhooks';
import type {
  CreatedWebhookRecord,
  WebhookDeliveryRecord,
  WebhookRecord,
  WebhookReplayRecord,
  WebhookSecretRecord,
  WebhookSecretState,
} from '@dak/contracts/api';
import { PutOrganizationRequest } from '@dak/contracts/tenant';
import { TenantServiceService } from '@dak/contracts/webhook';
import { uuidv7, type Principal } from '@dak/kernel';
import { createClient, InProcessChannel } from '@dak/platform/grpc';
import { eventually } from '@dak/testing/waiting';
import {
  allRead,
  callOf,
  endpointRequest,
  listDeliveries,
  parsed,
  principalOf,
  publish,
  receivedEvent,
  startHookSink,
  startWebhookStack,
  type HookSink,
  type WebhookStack,
} from './webhook-fixtures';

describe('managing webhooks', () => {
  let stack: WebhookStack;
  let sink: HookSink;
  let admin: Principal;
  beforeAll(async () => {
    stack = await startWebhookStack();
  });
  afterAll(() => stack.close());
  beforeEach(async () => {
    sink = await startHookSink();
    admin = principalOf(uuidv7());
  });
  afterEach(() => sink.close());

  async function create(change: object = {}, principal = admin): Promise<CreatedWebhookRecord> {
    const request = endpointRequest(`${sink.url}/hook`, change);
    const { json } = await stack.api.createEndpoint(request, callOf(principal));
    return parsed<CreatedWebhookRecord>(json);
  }
  async function read(id: string, principal = admin): Promise<WebhookRecord> {
    return parsed<WebhookRecord>((await stack.api.getEndpoint({ id }, callOf(principal))).json);
  }
  const update = (id: string, fields: object, version?: number) =>
    stack.api.updateEndpoint(
      {
        id,
        ...(version === undefined ? {} : { version }),
        fields: Object.keys(fields).map((name) =>
          name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
        ),
        ...endpointRequest(sink.url),
        ...fields,
      },
      callOf(admin),
    );
  /** All that was published has been read, and nothing of it waits to be sent. */
  async function expectNothingDue(endpointId: string): Promise<void> {
    await allRead(stack);
    const { rows } = await stack.sql.query(
      `select event_type from delivery where endpoint_id = $1 and state = 'pending'`,
      [endpointId],
    );
    expect(rows).toEqual([]);
  }
  const user = (): Principal => principalOf(admin.organizationId, { role: 'user' });

  describe('endpoints', () => {
    it('show what was set, and neither secrets nor values of headers', async () => {
      const made = await create({
        description: 'CRM',
        eventTypes: ['mail.received'],
        headers: { 'X-Token': 'very secret' },
        ownSecret: true,
      });
      expect(made.secret).toMatch(/^whsec_/);
      const shown = await read(made.id);
      const { secret, ...rest } = made;
      expect(shown).toEqual(rest);
      expect(shown).toMatchObject({
        owner_user_id: admin.userId,
        header_names: ['X-Token'],
        own_secret: true,
        status: 'active',
        breaker: { state: 'closed', opened_at: null, next_probe_at: null },
      });
      expect(JSON.stringify(shown)).not.toContain('very secret');
      const { rows } = await stack.sql.query(
        `select to_jsonb(e)::text || (select string_agg(to_jsonb(s)::text, '') from secret s) as all from endpoint e where id = $1`,
        [made.id],
      );
      expect(JSON.stringify(rows)).not.toContain(Buffer.from('very secret').toString('hex'));
      expect(JSON.stringify(rows)).not.toContain(secret!.slice(6));
    });

    it.each([
      [{ url: 'https://10.0.0.8/x' }, /^url must lead to a public address/],
      [{ url: 'https://1.1.1.1:22/' }, /^url must use port/],
      [{ eventTypes: ['mail.eaten'] }, /^event_types\[0\] must be one of "mail.received"/],
      [{ ordering: 'random' }, /^ordering must be/],
      [{ headers: { Host: 'x' } }, /must not set Host/],
      [{ headers: { 'webhook-id': 'x' } }, /must not set webhook-id/],
      [{ headers: { 'X-A': 'a\nb' } }, /printable ASCII/],
      [{ timeoutMs: 5 }, /^timeout_ms must be/],
    ])('refuse %j', async (change, sentence) => {
      await expect(create(change)).rejects.toMatchObject({
        kind: 'invalid',
        message: expect.stringMatching(sentence) as string,
      });
    });

    it('belong to whoever made them: a regular user sees their own, an administrator all', async () => {
      const [one, other] = [user(), user()];
      const [mine, theirs] = [await create({}, one), await create({}, other)];
      const list = async (principal: Principal): Promise<string[]> =>
        parsed<WebhookRecord[]>(
          (await stack.api.listEndpoints({}, callOf(principal))).dataJson,
        ).map(({ id }) => id);
      expect(await list(one)).toEqual([mine.id]);
      expect(await list(admin)).toEqual([mine.id, theirs.id]);
      expect(await list(principalOf(uuidv7()))).toEqual([]);
      for (const call of [
        () => stack.api.getEndpoint({ id: theirs.id }, callOf(one)),
        () => stack.api.deleteEndpoint({ id: theirs.id }, callOf(one)),
        () => stack.api.sendTest({ id: theirs.id, eventType: '' }, callOf(one)),
        () => stack.api.getEndpoint({ id: theirs.id }, callOf(principalOf(uuidv7()))),
      ]) {
        await expect(call()).rejects.toMatchObject({ kind: 'not_found' });
      }
    });

    it('change by version, and take part in sending at once', async () => {
      const endpoint = await create();
      await update(endpoint.id, { description: 'new' }, 1);
      await expect(update(endpoint.id, { description: 'newer' }, 1)).rejects.toMatchObject({
        kind: 'precondition_failed',
      });
      await publish(stack.log, receivedEvent(admin.organizationId));
      await eventually(() => sink.received.length === 1);
      await update(endpoint.id, { url: `${sink.url}/moved`, headers: { 'X-New': '1' } });
      await publish(stack.log, receivedEvent(admin.organizationId));
      await eventually(() => sink.received.length === 2);
      expect(sink.received[1]).toMatchObject({ path: '/moved', headers: { 'x-new': '1' } });
      await update(endpoint.id, { enabled: false });
      await publish(stack.log, receivedEvent(admin.organizationId));
      await expectNothingDue(endpoint.id);
      expect(sink.received).toHaveLength(2);
    });

    it('are made once per Idempotency-Key, and the repeated answer has the secret too', async () => {
      const request = endpointRequest(sink.url, { ownSecret: true });
      const first = await stack.api.createEndpoint(request, callOf(admin, 'k1'));
      const again = await stack.api.createEndpoint(request, callOf(admin, 'k1'));
      expect(again.replayed).toBe(true);
      expect(parsed(again.json)).toEqual(parsed(first.json));
      const { rows } = await stack.sql.query<{ response_json: string }>(
        `select response_json from idempotency_record where organization_id = $1`,
        [admin.organizationId],
      );
      expect(rows[0]!.response_json).toMatch(/^\{"sealed":/);
    });

    it('are 50 at most in an organization', async () => {
      for (let i = 0; i < 50; i += 1) await create();
      await expect(create()).rejects.toMatchObject({ code: 'too_many_webhooks' });
    });

    it('end with what waits for them', async () => {
      sink.answer = (_request, response) => {
        response.statusCode = 500;
        response.end();
      };
      const endpoint = await create();
      await publish(stack.log, receivedEvent(admin.organizationId));
      await eventually(() => sink.received.length === 1);
      await stack.api.deleteEndpoint({ id: endpoint.id }, callOf(admin));
      await expect(read(endpoint.id)).rejects.toMatchObject({ kind: 'not_found' });
      await stack.sql.query(`update delivery set next_at = now() where endpoint_id = $1`, [
        endpoint.id,
      ]);
      await publish(stack.log, receivedEvent(admin.organizationId));
      await expectNothingDue(endpoint.id);
      expect(sink.received).toHaveLength(1);
    });
  });

  describe('secrets', () => {
    const verifies = (secret: string, index: number): boolean => {
      try {
        new Webhook(secret).verify(sink.received[index]!.body, sink.received[index]!.headers);
        return true;
      } catch {
        return false;
      }
    };
    const setSecret = async (request: object): Promise<WebhookSecretRecord> =>
      parsed((await stack.api.putTenantSecret(request, callOf(admin))).json);
    const send = async (): Promise<number> => {
      const before = sink.received.length;
      await publish(stack.log, receivedEvent(admin.organizationId));
      await eventually(() => sink.received.length > before);
      return before;
    };

    it('of the organization sign from the moment they are set, the former ones as long as they overlap', async () => {
      await create();
      await send();
      const first = await setSecret({});
      expect(first.previous_valid_until).not.toBeNull();
      expect(verifies(first.secret, await send())).toBe(true);
      const second = await setSecret({ overlapHours: 1 });
      const during = await send();
      expect([first.secret, second.secret].map((secret) => verifies(secret, during))).toEqual([
        true,
        true,
      ]);
      const third = await setSecret({ overlapHours: 0 });
      const after = await send();
      expect([second.secret, third.secret].map((secret) => verifies(secret, after))).toEqual([
        false,
        true,
      ]);
    });

    it('are chosen or made, kept to five earlier ones, and never shown again', async () => {
      const chosen = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
      expect(await setSecret({ secret: chosen })).toEqual({
        secret: chosen,
        previous_valid_until: null,
      });
      for (let i = 0; i < 8; i += 1) await setSecret({});
      const { rows } = await stack.sql.query(`select id from secret where organization_id = $1`, [
        admin.organizationId,
      ]);
      expect(rows).toHaveLength(6);
      const state = parsed<WebhookSecretState>(
        (await stack.api.getTenantSecret({}, callOf(admin))).json,
      );
      expect(state.exists).toBe(true);
      expect(Object.keys(state)).toEqual(['exists', 'created_at', 'previous_valid_until']);
      await expect(setSecret({ secret: 'x' })).rejects.toMatchObject({ kind: 'invalid' });
      await expect(setSecret({ overlapHours: 169 })).rejects.toMatchObject({ kind: 'invalid' });
      await expect(stack.api.putTenantSecret({}, callOf(user()))).rejects.toMatchObject({
        kind: 'forbidden',
      });
    });

    it('of an endpoint replace that of the organization, which overlaps', async () => {
      const endpoint = await create();
      const shared = await setSecret({});
      const own = parsed<WebhookSecretRecord>(
        (await stack.api.rotateSecret({ id: endpoint.id }, callOf(admin))).json,
      );
      const index = await send();
      expect([shared.secret, own.secret].map((secret) => verifies(secret, index))).toEqual([
        true,
        true,
      ]);
      expect((await read(endpoint.id)).own_secret).toBe(true);
      const next = await setSecret({});
      const later = await send();
      expect([next.secret, own.secret].map((secret) => verifies(secret, later))).toEqual([
        false,
        true,
      ]);
    });
  });

  describe('sending again', () => {
    it('repeats one delivery under its webhook-id, as a delivery of its own', async () => {
      const endpoint = await create();
      const event = receivedEvent(admin.organizationId);
      await publish(stack.log, event);
      const [first] = await eventually(async () => {
        const all = await listDeliveries(stack, admin, endpoint.id);
        return all[0]?.state === 'delivered' ? all : null;
      });
      const again = parsed<WebhookDeliveryRecord>(
        (await stack.api.retryDelivery({ endpointId: endpoint.id, id: first!.id }, callOf(admin)))
          .json,
      );
      expect(again).toMatchObject({ trigger: 'retry', event_id: event.id, state: 'pending' });
      await eventually(() => sink.received.length === 2);
      expect(sink.received[1]!.headers['webhook-id']).toBe(event.id);
      expect(sink.received[1]!.body).toBe(sink.received[0]!.body);
      const all = await eventually(async () => {
        const now = await listDeliveries(stack, admin, endpoint.id);
        return now.every(({ state }) => state === 'delivered') ? now : null;
      });
      expect(all.map(({ trigger, attempts }) => [trigger, attempts])).toEqual([
        ['retry', 1],
        ['automatic', 1],
      ]);
    });

    it('tests with a sample event', async () => {
      const endpoint = await create({ eventTypes: ['mail.sent'] });
      await stack.api.sendTest({ id: endpoint.id, eventType: 'domain.verified' }, callOf(admin));
      await eventually(() => sink.received.length === 1);
      expect(sink.received[0]!.event).toMatchObject({
        type: 'domain.verified',
        data: { test: true },
      });
    });

    it('replays a period as a job that shows its progress', async () => {
      let isDown = true;
      sink.answer = (_request, response) => {
        response.statusCode = isDown ? 410 : 200;
        response.end();
      };
      const since = new Date(Date.now() - 60_000);
      const endpoint = await create();
      await publish(stack.log, receivedEvent(admin.organizationId));
      await eventually(async () => (await read(endpoint.id)).status === 'disabled');
      // Events are kept while it is disabled.
      const missed = Array.from({ length: 3 }, () => receivedEvent(admin.organizationId));
      await publish(stack.log, ...missed);
      await eventually(async () => (await listDeliveries(stack, admin, endpoint.id)).length === 4);
      const replay = { endpointId: endpoint.id, since, eventTypes: [], onlyFailed: true };
      await expect(stack.api.startReplay(replay, callOf(admin))).rejects.toMatchObject({
        code: 'webhook_disabled',
      });
      isDown = false;
      await update(endpoint.id, { enabled: true });
      await expectNothingDue(endpoint.id);
      expect(sink.received).toHaveLength(1);
      const started = parsed<WebhookReplayRecord>(
        (await stack.api.startReplay(replay, callOf(admin))).json,
      );
      expect(started).toMatchObject({ state: 'running', total: 4, examined: 0, queued: 0 });
      await eventually(() => sink.received.length === 5);
      const done = await eventually(async () => {
        const { json } = await stack.api.getReplay(
          { endpointId: endpoint.id, id: started.id },
          callOf(admin),
        );
        const now = parsed<WebhookReplayRecord>(json);
        return now.state === 'done' ? now : null;
      });
      expect(done).toMatchObject({ total: 4, examined: 4, queued: 4 });
      const all = await eventually(async () => {
        const now = await listDeliveries(stack, admin, endpoint.id);
        return now.every(({ state }) => state !== 'pending') ? now : null;
      });
      const automatic = all.filter(({ trigger }) => trigger === 'automatic');
      expect(automatic.every(({ attempts, state }) => attempts <= 1 && state !== 'delivered')).toBe(
        true,
      );
      expect(
        all.filter(({ trigger, state }) => trigger === 'replay' && state === 'delivered'),
      ).toHaveLength(4);
      // Everything has been delivered by now: there is nothing left to repeat.
      const again = parsed<WebhookReplayRecord>(
        (await stack.api.startReplay(replay, callOf(admin))).json,
      );
      expect(again.total).toBe(0);
    });

    it('judges what a regular owner may read now', async () => {
      const owner = user();
      const endpoint = await create({}, owner);
      const event = receivedEvent(admin.organizationId);
      stack.readable.add(`${owner.userId}/${event.conversationId!}`);
      await publish(stack.log, event);
      const [first] = await eventually(async () => {
        const all = await listDeliveries(stack, owner, endpoint.id);
        return all[0]?.state === 'delivered' ? all : null;
      });
      stack.readable.delete(`${owner.userId}/${event.conversationId!}`);
      await expect(
        stack.api.retryDelivery({ endpointId: endpoint.id, id: first!.id }, callOf(owner)),
      ).rejects.toMatchObject({ code: 'owner_cannot_read' });
    });
  });

  describe('users and organizations', () => {
    it('who are deactivated get nothing: their endpoints are disabled', async () => {
      const owner = user();
      const endpoint = await create({}, owner);
      await stack.tenants.putUser(
        {
          organizationId: admin.organizationId,
          userId: owner.userId,
          role: 'admin',
          active: false,
          departmentIds: [],
          version: 2,
        },
        callOf(null),
      );
      expect(await read(endpoint.id)).toMatchObject({
        status: 'disabled',
        disabled_reason: 'owner_inactive',
      });
      // An announcement that was overtaken changes nothing.
      await stack.tenants.putUser(
        {
          organizationId: admin.organizationId,
          userId: owner.userId,
          role: 'admin',
          active: true,
          departmentIds: [],
          version: 1,
        },
        callOf(null),
      );
      await publish(stack.log, receivedEvent(admin.organizationId));
      await expectNothingDue(endpoint.id);
      expect(sink.received).toHaveLength(0);
    });

    it('are heard of from a gateway of the former version too', async () => {
      const former = createClient(
        TenantServiceService,
        new InProcessChannel(stack.service.registry),
      );
      const endpoint = await create();
      const { organizationId } = admin;
      const put = (status: string, version: number) =>
        former.putOrganization({ organizationId, name: 'Org', status, version }, callOf(null));
      await put('suspended', 7);
      await publish(stack.log, receivedEvent(organizationId));
      await expectNothingDue(endpoint.id);
      expect(sink.received).toHaveLength(0);
      await put('active', 8);
    });

    it('that are suspended get nothing until they are active again', async () => {
      const endpoint = await create();
      const put = (status: string, version: number) =>
        stack.tenants.putOrganization(
          PutOrganizationRequest.fromPartial({
            organizationId: admin.organizationId,
            name: 'Org',
            status,
            version,
          }),
          callOf(null),
        );
      await put('suspended', 2);
      // An announcement that was overtaken changes nothing.
      await put('active', 1);
      await publish(stack.log, receivedEvent(admin.organizationId));
      await expectNothingDue(endpoint.id);
      expect(sink.received).toHaveLength(0);
      await put('active', 3);
      await put('suspended', 2);
      await publish(stack.log, receivedEvent(admin.organizationId));
      await eventually(() => sink.received.length === 1);
    });
  });
});
