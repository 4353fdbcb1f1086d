import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { embeddedBinaries, systemBinaries } from '@dak/platform/embedded-postgres';
import { eventually } from '@dak/testing/waiting';
import { startCluster } from '../src/postgres-server';
import { isAlive } from '../src/run-server';

const candidates = [systemBinaries(), embeddedBinaries()].filter((binaries) => binaries !== null);

describe('startCluster', () => {
  it('has binaries to start on this machine', () => {
    expect(candidates.length).toBeGreaterThan(0);
  });

  it.each(candidates)('starts $origin PostgreSQL from $bin', async (binaries) => {
    const folder = mkdtempSync(join(tmpdir(), 'dak-cluster-'));
    chmodSync(folder, 0o711);
    const server = await startCluster(folder, binaries);
    try {
      const client = new Client({ connectionString: server.details['adminUrl']! });
      await client.connect();
      const { rows } = await client.query(`select lower('ÄÖ') as lower, current_setting('fsync')`);
      await client.end();
      expect(rows).toEqual([{ lower: 'äö', current_setting: 'off' }]);
    } finally {
      process.kill(server.pid, 'SIGINT');
      await eventually(() => !isAlive(server.pid));
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
