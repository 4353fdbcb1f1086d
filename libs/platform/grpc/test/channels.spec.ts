import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { MethodDefinition } from '@grpc/grpc-js';
import { ConflictError, DomainError, UnavailableError, type Principal } from '@dak/kernel';
import {
  GrpcChannel,
  InProcessChannel,
  PrincipalSigner,
  PrincipalVerifier,
  ServiceRegistry,
  createClient,
  startGrpcServer,
  type CallContext,
  type CallOptions,
  type Channel,
} from '../src/index';

interface Text {
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
const EchoService = {
  echo: method('Echo') as Unary,
  whoAmI: method('WhoAmI') as Unary,
  fail: method('Fail') as Unary,
  sleep: method('Sleep') as Unary,
  join: method('Join', true) as Upload,
  split: method('Split', false, true) as Download,
};

const principal: Principal = {
  type: 'api_key',
  organizationId: '018f0000-0000-7000-8000-000000000001',
  userId: '018f0000-0000-7000-8000-000000000002',
  userName: 'Ada – ärztin',
  role: 'user',
  scopes: ['mail.read'],
  credentialId: '018f0000-0000-7000-8000-000000000003',
  departmentIds: [],
};
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

function registry(): ServiceRegistry {
  const services = new ServiceRegistry();
  services.register(EchoService, {
    echo: async ({ text }) => ({ text }),
    whoAmI: async (_request, context: CallContext) => ({
      text: JSON.stringify([context.principal, context.requestId, context.idempotency]),
    }),
    fail: async ({ text }) => {
      if (text === 'conflict') throw new ConflictError('The name “é” is taken.', 'name_taken');
      if (text === 'later') throw new UnavailableError('Come back.', 7);
      throw new TypeError('secret internals');
    },
    sleep: async () => {
      await delay(2_000, undefined, { ref: false });
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

interface Running {
  channel: Channel;
  stop(): Promise<void>;
}
const drivers: [string, () => Promise<Running>][] = [
  [
    'in process',
    async () => {
      const channel = new InProcessChannel(registry());
      return { channel, stop: () => channel.close() };
    },
  ],
  [
    'over grpc-js',
    async () => {
      const server = await startGrpcServer({
        registry: registry(),
        verifier: new PrincipalVerifier(publicKey),
        host: '127.0.0.1',
        port: 0,
        isReady: () => Promise.resolve(),
        onError: () => undefined,
      });
      const channel = new GrpcChannel(`127.0.0.1:${server.port}`, new PrincipalSigner(privateKey));
      return {
        channel,
        stop: async () => {
          await channel.close();
          await server.close(1_000);
        },
      };
    },
  ],
];

describe.each(drivers)('a channel %s', (_name, start) => {
  let running: Running;
  let client: ReturnType<typeof createClient<typeof EchoService>>;
  const options = (more: Partial<CallOptions> = {}): CallOptions => ({
    principal,
    requestId: 'req_1',
    deadline: Date.now() + 5_000,
    ...more,
  });

  beforeAll(async () => {
    running = await start();
    client = createClient(EchoService, running.channel);
  });
  afterAll(() => running.stop());

  it('carries request and answer', async () => {
    await expect(client.echo({ text: 'hé' }, options())).resolves.toEqual({ text: 'hé' });
  });

  it('carries principal, request id and idempotency key', async () => {
    const idempotency = { key: 'k é', route: 'POST /x', requestHash: 'ab' };
    const { text } = await client.whoAmI({ text: '' }, options({ idempotency }));
    expect(JSON.parse(text)).toEqual([principal, 'req_1', idempotency]);
  });

  it('keeps kind, code and sentence of a DomainError', async () => {
    const failure = client.fail({ text: 'conflict' }, options());
    await expect(failure).rejects.toMatchObject({
      kind: 'conflict',
      code: 'name_taken',
      message: 'The name “é” is taken.',
    });
    await expect(client.fail({ text: 'later' }, options())).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 7,
    });
  });

  it('tells nothing of any other error', async () => {
    const error = await client.fail({ text: '' }, options()).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(DomainError);
    expect((error as DomainError).kind).toBe('internal');
    expect((error as DomainError).message).not.toContain('secret');
  });

  it('ends at the deadline', async () => {
    const started = Date.now();
    const late = client.sleep({ text: '' }, options({ deadline: started + 80 }));
    await expect(late).rejects.toMatchObject({ kind: 'deadline_exceeded' });
    expect(Date.now() - started).toBeLessThan(1_000);
  });

  it('refuses a call without a principal', async () => {
    const call = client.echo({ text: '' }, options({ principal: null }));
    await expect(call).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('uploads a stream', async () => {
    async function* parts(): AsyncIterable<Text> {
      for (const text of ['a', 'b', 'c']) yield { text };
    }
    await expect(client.join(parts(), options())).resolves.toEqual({ text: 'abc' });
  });

  it('downloads a stream and reports an error in its middle', async () => {
    const received: string[] = [];
    const read = async (text: string): Promise<void> => {
      for await (const part of client.split({ text }, options())) received.push(part.text);
    };
    await read('xyz');
    await expect(read('p!q')).rejects.toMatchObject({ kind: 'conflict' });
    expect(received).toEqual(['x', 'y', 'z', 'p']);
  });
});

describe('the principal token', () => {
  const signer = new PrincipalSigner(privateKey);
  const verifier = new PrincipalVerifier(privateKey);

  it('is accepted while fresh and refused once expired', () => {
    const now = Date.now();
    const token = signer.sign(principal, now);
    expect(verifier.verify(token, now)).toEqual(principal);
    expect(() => verifier.verify(token, now + 61_000)).toThrow('no valid principal');
  });

  it('is refused when altered, unsigned or signed by another key', () => {
    const token = signer.sign(principal);
    const [header, , signature] = token.split('.');
    const claims = { exp: 9_999_999_999, principal: { ...principal, role: 'admin' } };
    const forged = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const other = new PrincipalSigner(generateKeyPairSync('ed25519').privateKey);
    for (const bad of [
      `${header}.${forged}.${signature}`,
      `${header}.${forged}.`,
      other.sign(principal),
      '',
    ]) {
      expect(() => verifier.verify(bad)).toThrow('no valid principal');
    }
  });
});
