import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '@dak/testing/database';
import { describeWithKafka, startNativeKafka } from '../src/index';

function accepts(brokers: string): Promise<boolean> {
  const [host, port] = brokers.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

describeWithKafka(
  'a native broker',
  () => {
    it('comes back on its port after a kill, and ends when it is stopped', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'dak-kafka-'));
      const broker = await startNativeKafka(folder);
      const first = broker.pid;
      expect(await accepts(broker.brokers)).toBe(true);
      broker.kill();
      await broker.restart();
      expect(broker.pid).not.toBe(first);
      expect(await accepts(broker.brokers)).toBe(true);
      await broker.stop();
      expect(isAlive(broker.pid)).toBe(false);
      expect(await accepts(broker.brokers)).toBe(false);
      rmSync(folder, { recursive: true });
    }, 60_000);
  },
  'native',
);
