import { generateKeyPairSync } from 'node:crypto';
import type { MethodDefinition } from '@grpc/grpc-js';
import { ConflictError, UnavailableError, type Principal } from '@dak/kernel';
import { slowPeer } from '@dak/testing/waiting';
import {
  CallerVerifier,
  type GrpcTls,
  ServiceRegistry,
  startGrpcServer,
  type CallContext,
  type GrpcServer,
} from '../src/index';

export interface Text {
  text: string;
}

const encode = (value: Text): Buffer => Buffer.from(JSON.stringify(value));
const decode = (bytes: Buffer): Text => JSON.parse(bytes.toString('utf8')) as Text;
const method = (
  name: string,
  requestStream = false,
  responseStream = false,
): MethodDefinition<Text, Text> => ({
  path: `/dak.test.v1.EchoService/${name}`,
  requestStream,
  responseStream,
  requestSerialize: encode,
  requestDeserialize: decode,
  responseSerialize: encode,
  responseDeserialize: decode,
});
type Unary = MethodDefinition<Text, Text> & { requestStream: false; responseStream: false };
type Upload = MethodDefinition<Text, Text> & { requestStream: true; responseStream: false };
type Download = MethodDefinition<Text, Text> & { requestStream: false; responseStream: true };

export const EchoService = {
  echo: method('Echo') as Unary,
  whoAmI: method('WhoAmI') as Unary,
  fail: method('Fail') as Unary,
  sleep: method('Sleep') as Unary,
  join: method('Join', true) as Upload,
  split: method('Split', false, true) as Download,
};
/** What services call for themselves. */
export const UpkeepService = { sweep: method('Sweep') as Unary };

export const principal: Principal = {
  type: 'api_key',
  organizationId: '018f0000-0000-7000-8000-000000000001',
  userId: '018f0000-0000-7000-8000-000000000002',
  userName: 'Ada – ärztin',
  role: 'user',
  scopes: ['mail.read'],
  credentialId: '018f0000-0000-7000-8000-000000000003',
  departmentIds: [],
};
export const { privateKey, publicKey } = generateKeyPairSync('ed25519');
export const SECRET = 'a secret of tests with 32 characters';

export function echoRegistry(): ServiceRegistry {
  const services = new ServiceRegistry();
  services.register(
    UpkeepService,
    { sweep: async ({ text }) => ({ text: `swept ${text}` }) },
    { internal: true },
  );
  services.register(EchoService, {
    echo: async ({ text }) => ({ text }),
    whoAmI: async (_request, context: CallContext) => ({
      text: JSON.stringify([context.principal, context.requestId, context.idempotency]),
    }),
    fail: async ({ text }) => {
      if (text === 'conflict') throw new ConflictError('The name “é” is taken.', 'duplicate_name');
      if (text === 'later') throw new UnavailableError('Come back.', 7);
      throw new TypeError('secret internals');
    },
    sleep: async ({ text }) => {
      await slowPeer(text === '' ? 2_000 : Number(text));
      return { text: 'awake' };
    },
    join: async (requests) => {
      const texts: string[] = [];
      for await (const { text } of requests) texts.push(text);
      return { text: texts.join('') };
    },
    split: async function* ({ text }) {
      for (const character of text) {
        if (character === '!') throw new ConflictError('No exclamation.');
        yield { text: character };
      }
    },
  });
  return services;
}

/** @param port 0 = any free port */
export function startEchoServer(
  registry = echoRegistry(),
  port = 0,
  tls: GrpcTls | null = null,
): Promise<GrpcServer> {
  return startGrpcServer({
    registry,
    verifier: new CallerVerifier(publicKey, SECRET, 'echo'),
    host: '127.0.0.1',
    port,
    tls,
    isReady: () => Promise.resolve(),
    onError: () => undefined,
  });
}
