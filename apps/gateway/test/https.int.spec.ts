import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { createSelfSignedCertificate } from '@dak/platform/tls-files';
import { eventually } from '@dak/testing/waiting';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

describe('the API over HTTPS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-https-'));
  const paths = { cert: join(folder, 'current/tls.crt'), key: join(folder, 'current/tls.key') };
  let site: GatewayUnderTest;
  let versions = 0;

  /** As a mounted secret changes: a folder beside, and a link that is moved over the old one. */
  const install = (pair: { cert: string; key: string }): void => {
    versions += 1;
    const own = join(folder, `v${versions}`);
    mkdirSync(own);
    writeFileSync(join(own, 'tls.crt'), pair.cert);
    writeFileSync(join(own, 'tls.key'), pair.key);
    symlinkSync(own, join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
  };

  beforeAll(async () => {
    install(createSelfSignedCertificate('one.example'));
    site = await startGateway({ tls: paths });
  });
  afterAll(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const port = (): number => Number(new URL(site.baseUrl).port);
  const nameShown = (options: object = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket: TLSSocket = connect(
        { port: port(), host: '127.0.0.1', rejectUnauthorized: false, ...options },
        () => {
          resolve(socket.getPeerX509Certificate()!.subject);
          socket.destroy();
        },
      );
      socket.once('error', reject);
    });
  const until = (name: string) =>
    eventually(name, async () => (await nameShown()) === `CN=${name}`);

  it('marks its cookies Secure and tells browsers to stay', async () => {
    const { email, password } = site.seed.admin;
    const reply = await new Promise<{ status: number; cookie: string; hsts: string }>(
      (resolve, reject) => {
        const asked = request(
          {
            port: port(),
            host: '127.0.0.1',
            path: '/api/v1/auth/login',
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            rejectUnauthorized: false,
          },
          (response) => {
            response.resume();
            resolve({
              status: response.statusCode!,
              cookie: String(response.headers['set-cookie']),
              hsts: String(response.headers['strict-transport-security']),
            });
          },
        );
        asked.once('error', reject);
        asked.end(JSON.stringify({ email, password }));
      },
    );
    expect(reply.status).toBe(200);
    expect(reply.cookie).toContain('; Secure');
    expect(reply.hsts).toContain('max-age=');
  });

  it('refuses TLS before 1.2, and whoever speaks HTTP', async () => {
    await expect(
      nameShown({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    ).rejects.toThrow();
    await expect(nameShown({ maxVersion: 'TLSv1.2' })).resolves.toBe('CN=one.example');
    await expect(fetch(`http://127.0.0.1:${port()}/healthz`)).rejects.toThrow();
  });

  it('shows a new certificate without a restart, and goes on with the old one when the new one is broken', async () => {
    install(createSelfSignedCertificate('two.example'));
    await until('two.example');
    install({
      cert: createSelfSignedCertificate('broken.example').cert,
      key: createSelfSignedCertificate('other.example').key,
    });
    install(createSelfSignedCertificate('three.example'));
    await until('three.example');
  });
});
