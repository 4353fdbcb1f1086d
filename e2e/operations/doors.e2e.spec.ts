import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@dak/testing/waiting';
import { describeDistributed, sharedSettings } from '../stack/distributed-stack';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import { databaseSettings, stackDatabases } from '../stack/stack-databases';

const NEXT = 'another long enough password';

/** What must hold for the built programs, however they are run. */
function doors(start: () => Promise<RunningDak>): void {
  let dak: RunningDak;
  beforeAll(async () => {
    dak = await start();
  }, 90_000);
  afterAll(async () => {
    await dak.stop();
    removeDataDir(dak.dataDir);
  }, 60_000);

  const login = (email: string, password: string, client: string) =>
    fetch(`${dak.bootstrap.base_url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', forwarded: `for="${client}"` },
      body: JSON.stringify({ email, password }),
    });

  it('shows metrics on a port of their own and not to strangers', async () => {
    const { metrics_url: metrics, site_url: site } = dak.bootstrap;
    const text = await (await fetch(metrics!)).text();
    for (const name of [
      'dak_login_failures_total',
      'dak_rate_limited_total',
      'dak_http_connections',
    ]) {
      expect(text).toContain(name);
    }
    expect((await fetch(`${site}/metrics`)).status).toBe(404);
    for (const path of ['/healthz', '/readyz', '/readyz?exclude=dependencies']) {
      expect((await fetch(site + path)).status).toBe(200);
      expect((await fetch(metrics!.replace('/metrics', path))).status).toBe(200);
    }
  });

  it('looks at ten of eighty guesses, and lets the owner in from elsewhere', async () => {
    const { email, password } = dak.bootstrap.admin;
    const replies = await Promise.all(
      Array.from({ length: 80 }, (_, i) => login(email, `wrong ${i}`, '192.0.2.1')),
    );
    const looked = replies.filter(({ status }) => status === 401);
    expect(looked.length).toBeLessThanOrEqual(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(80 - looked.length);
    expect((await login(email, password, '192.0.2.2')).status).toBe(200);
  });

  it('forgets the first password everywhere once it is changed', async () => {
    const { email, password } = dak.bootstrap.superadmin;
    const { access_token: token } = (await (await login(email, password, '192.0.2.3')).json()) as {
      access_token: string;
    };
    const changed = await fetch(`${dak.bootstrap.base_url}/auth/password`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ current: password, new: NEXT }),
    });
    expect(changed.status).toBe(204);
    await eventually('the password is gone from bootstrap.json', () => {
      const { superadmin } = JSON.parse(
        readFileSync(join(dak.dataDir, 'bootstrap.json'), 'utf8'),
      ) as RunningDak['bootstrap'];
      return Promise.resolve(superadmin.password === null);
    });
    for (const file of ['bootstrap.json', 'secrets.json']) {
      expect(readFileSync(join(dak.dataDir, file), 'utf8')).not.toContain(password);
      expect(statSync(join(dak.dataDir, file)).mode & 0o777).toBe(0o600);
    }
    expect((await login(email, NEXT, '192.0.2.3')).status).toBe(200);
  });
}

describe('the doors, in one process', () => {
  doors(() => startDak(temporaryDataDir(), { DAK_TRUSTED_PROXIES: '127.0.0.0/8,::1' }));
});

describeDistributed('the doors, distributed', (servers) => {
  const undo: (() => unknown)[] = [];
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });
  doors(async () => {
    const databases = await stackDatabases(undo);
    return startDak(
      temporaryDataDir(),
      {
        ...sharedSettings(await servers()),
        ...databaseSettings(databases),
        DAK_TRUSTED_PROXIES: '127.0.0.0/8,::1',
      },
      { app: 'distributed', args: ['--replicas', 'gateway=1'] },
    );
  });
});
