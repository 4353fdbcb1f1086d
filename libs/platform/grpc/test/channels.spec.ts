import { DomainError } from '@dak/kernel';
import {
  GrpcChannel,
  InProcessChannel,
  PrincipalSigner,
  ServiceSigner,
  createClient,
  type CallOptions,
  type Channel,
} from '../src/index';
import {
  EchoService,
  SECRET,
  UpkeepService,
  echoRegistry,
  principal,
  privateKey,
  startEchoServer,
  type Text,
} from './echo-service';

interface Running {
  channel: Channel;
  /** As a service other than the gateway reaches it. */
  serviceChannel: Channel;
  stop(): Promise<void>;
}
const drivers: [string, () => Promise<Running>][] = [
  [
    'in process',
    async () => {
      const channel = new InProcessChannel(echoRegistry());
      return { channel, serviceChannel: channel, stop: () => channel.close() };
    },
  ],
  [
    'over grpc-js',
    async () => {
      const server = await startEchoServer();
      const address = `127.0.0.1:${server.port}`;
      const channel = new GrpcChannel(address, new PrincipalSigner(privateKey, 'echo'));
      const serviceChannel = new GrpcChannel(address, new ServiceSigner(SECRET, 'webhook', 'echo'));
      return {
        channel,
        serviceChannel,
        stop: async () => {
          await channel.close();
          await serviceChannel.close();
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
      code: 'duplicate_name',
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

  it('refuses a call of a person’s method without a principal, be it the gateway or a service', async () => {
    for (const channel of [running.channel, running.serviceChannel]) {
      const call = createClient(EchoService, channel).echo(
        { text: '' },
        options({ principal: null }),
      );
      await expect(call).rejects.toMatchObject({ kind: 'forbidden' });
    }
  });

  it('lets the gateway and services call internal methods, and people not', async () => {
    for (const channel of [running.channel, running.serviceChannel]) {
      const upkeep = createClient(UpkeepService, channel);
      const swept = upkeep.sweep({ text: 'it' }, options({ principal: null }));
      await expect(swept).resolves.toEqual({ text: 'swept it' });
    }
    const person = createClient(UpkeepService, running.channel).sweep({ text: '' }, options());
    await expect(person).rejects.toMatchObject({ kind: 'forbidden' });
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
