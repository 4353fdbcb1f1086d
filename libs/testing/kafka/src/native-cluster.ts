import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@dak/platform/lifecycle';
import { createCertificateAuthority } from '@dak/testing/certificates';
import { NativeBroker } from './native-broker';

/** Brokers of one Apache Kafka that this process started from its jars: TLS, SCRAM, three replicas. */
export interface NativeCluster {
  /** `host:port` of every broker, a comma list. */
  readonly brokers: string;
  /** PEM file of the authority that signed the brokers' certificates. */
  readonly caFile: string;
  readonly credentials: {
    readonly mechanism: 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
  readonly nodes: readonly NativeBroker[];
  stop(): Promise<void>;
}

const BROKER = resolve(__dirname, '../broker');
const NODES = 3;

/**
 * Starts three combined KRaft nodes on free loopback ports with their data in `folder`. They outlive
 * this process unless they are stopped.
 */
export async function startNativeCluster(folder: string): Promise<NativeCluster> {
  await promisify(execFile)(join(BROKER, 'fetch-jars'));
  const ports = await freePorts(2 * NODES);
  const nodes = Array.from({ length: NODES }, (_, i) => ({
    id: i + 1,
    port: ports[2 * i]!,
    controllerPort: ports[2 * i + 1]!,
    folder: join(folder, `node-${i + 1}`),
  }));
  const voters = nodes.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`);
  const password = randomBytes(12).toString('hex');
  const authority = createCertificateAuthority('Kafka test CA');
  const template = readFileSync(join(BROKER, 'cluster.properties'), 'utf8');
  for (const node of nodes) {
    mkdirSync(node.folder, { recursive: true });
    const { key, cert } = authority.issue('localhost');
    writeFileSync(join(node.folder, 'keystore.pem'), key + cert);
    writeFileSync(join(node.folder, 'ca.pem'), authority.cert);
    const values: Record<string, string> = {
      NODE: String(node.id),
      VOTERS: voters.join(','),
      PORT: String(node.port),
      CONTROLLER_PORT: String(node.controllerPort),
      PASSWORD: password,
      FOLDER: node.folder,
    };
    const settings = template.replace(/@([A-Z_]+)@/g, (_, name: string) => values[name]!);
    writeFileSync(join(node.folder, 'server.properties'), settings);
  }
  const clusterId = randomBytes(16).toString('base64url');
  const users = ['broker', 'dak'].map(
    (user) => `SCRAM-SHA-512=[name=${user},password=${password}]`,
  );
  const brokers = nodes.map(
    (node) =>
      new NativeBroker({
        command: [join(BROKER, 'run-node'), node.folder, clusterId, ...users],
        output: join(node.folder, 'broker.log'),
      }),
  );
  await Promise.all(brokers.map((broker) => broker.start()));
  return {
    brokers: nodes.map(({ port }) => `127.0.0.1:${port}`).join(','),
    caFile: join(nodes[0]!.folder, 'ca.pem'),
    credentials: { mechanism: 'scram-sha-512', username: 'dak', password },
    nodes: brokers,
    stop: async () => {
      // Without a majority a node waits long for its controller: nothing here is kept anyway.
      for (const broker of brokers) broker.kill();
      await Promise.all(brokers.map((broker) => broker.stop()));
    },
  };
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
