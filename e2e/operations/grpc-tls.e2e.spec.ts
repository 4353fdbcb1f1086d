import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebhookServiceService } from '@dak/contracts/webhook';
import { uuidv7, type Principal } from '@dak/kernel';
import { createClient, GrpcChannel, GrpcTls, PrincipalSigner } from '@dak/platform/grpc';
import { createCertificateAuthority } from '@dak/testing/certificates';
import { eventually } from '@dak/testing/waiting';
import { deliver } from '@dak/testing/smtp-sink';
import { describeDistributed, sharedSettings } from '../stack/distributed-stack';
import { subjectsIn } from '../stack/mail-load';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';
import { databaseSettings, stackDatabases } from '../stack/stack-databases';

describeDistributed('services that show each other certificates', (servers) => {
  const dataDir = temporaryDataDir();
  const undo: (() => unknown)[] = [];
  const silent = { info: () => undefined, error: () => undefined };
  let hooks: WebhookSink;
  let dak: RunningDak;
  let tls: GrpcTls;

  beforeAll(async () => {
    undo.push(() => removeDataDir(dataDir));
    hooks = await startWebhookSink();
    undo.push(() => hooks.close());
    const databases = await stackDatabases(undo);
    const authority = createCertificateAuthority();
    const { cert, key } = authority.issue('dak');
    const paths = Object.fromEntries(
      Object.entries({ cert, key, ca: authority.cert }).map(([what, pem]) => {
        const file = join(dataDir, '..', `${what}.pem`);
        writeFileSync(file, pem);
        return [what, file];
      }),
    ) as { cert: string; key: string; ca: string };
    dak = await startDak(
      dataDir,
      {
        ...sharedSettings(await servers()),
        ...databaseSettings(databases),
        DAK_WEBHOOK_ALLOW: '127.0.0.1',
        DAK_GRPC_TLS_CERT: paths.cert,
        DAK_GRPC_TLS_KEY: paths.key,
        DAK_GRPC_TLS_CA: paths.ca,
      },
      { app: 'distributed', args: [] },
    );
    undo.push(() => dak.stop());
    tls = new GrpcTls({ paths, log: silent });
    undo.push(() => tls.stop());
  }, 120_000);
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  }, 60_000);

  /** As somebody with the gateway's key would call the webhook service. */
  async function callWebhooks(audience: string, certificate: GrpcTls | null): Promise<unknown> {
    const { grpc } = dak.processes().find(({ service }) => service === 'webhook')!;
    const key = createPrivateKey(readFileSync(join(dataDir, 'services/gateway-key.pem')));
    const channel = new GrpcChannel(grpc!, new PrincipalSigner(key, audience), certificate);
    const principal: Principal = {
      ...{ type: 'session', userId: uuidv7(), userName: 'Asha', role: 'admin' },
      ...{ credentialId: uuidv7(), departmentIds: [], scopes: ['webhooks.manage'] },
      organizationId: dak.bootstrap.organization_id,
    };
    try {
      return await createClient(WebhookServiceService, channel).listEndpoints(
        { page: undefined },
        { principal, requestId: 'r', deadline: Date.now() + 5_000 },
      );
    } finally {
      await channel.close();
    }
  }

  it('work together: mail comes in, is listed, and is told by webhook', async () => {
    const [inbox] = dak.bootstrap.mailboxes;
    const made = await dak.api('POST', '/webhooks', {
      url: hooks.url,
      event_types: ['mail.received'],
    });
    expect(made.status).toBe(201);
    expect(await deliver(dak.bootstrap.smtp.port, inbox!.address, 'over-tls')).toBe('over-tls');
    await eventually('the mail is told', async () => hooks.requests.length > 0);
    expect(await subjectsIn(dak, inbox!.id)).toContain('over-tls');
    expect(dak.errors).toEqual([]);
  }, 60_000);

  it('refuse a caller without a certificate', async () => {
    await expect(callWebhooks('webhook', tls)).resolves.toBeDefined();
    await expect(callWebhooks('webhook', null)).rejects.toMatchObject({ kind: 'unavailable' });
  }, 30_000);

  it('refuse a token that is meant for another service', async () => {
    await expect(callWebhooks('mail', tls)).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'invalid_principal',
    });
  }, 30_000);
});
