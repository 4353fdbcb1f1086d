import { eventually } from '@dak/testing/waiting';
import { createClient, GrpcChannel, PrincipalSigner, type CallContext } from '../src/index';
import { EchoService, echoRegistry, principal, privateKey, startEchoServer } from './echo-service';

describe('the signal of a call over grpc-js', () => {
  const contexts: CallContext[] = [];
  let handle: (context: CallContext) => Promise<void>;
  let client: ReturnType<typeof createClient<typeof EchoService>>;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const registry = echoRegistry();
    registry.register(
      { sleep: EchoService.sleep },
      {
        sleep: async (_request, context) => {
          contexts.push(context);
          await handle(context);
          return { text: 'done' };
        },
      },
    );
    const server = await startEchoServer(registry);
    const signer = new PrincipalSigner(privateKey, 'echo');
    const channel = new GrpcChannel(`127.0.0.1:${server.port}`, signer);
    client = createClient(EchoService, channel);
    stop = async () => {
      await channel.close();
      await server.close(0);
    };
  });
  beforeEach(() => contexts.splice(0));
  afterAll(() => stop());

  const call = (signal?: AbortSignal) =>
    client.sleep(
      { text: '' },
      {
        principal,
        requestId: 'req_1',
        deadline: Date.now() + 5_000,
        ...(signal === undefined ? {} : { signal }),
      },
    );

  it('tells a handler that its caller has gone', async () => {
    const caller = new AbortController();
    handle = ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    const answer = call(caller.signal);
    await eventually(() => contexts.length === 1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await eventually(() => contexts[0]!.signal.aborted);
  });

  it('tells it also when the handler asks for it only afterward', async () => {
    const caller = new AbortController();
    let goOn = (): void => undefined;
    handle = () => new Promise((resolve) => (goOn = resolve));
    const answer = call(caller.signal);
    await eventually(() => contexts.length === 1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    // The next call of the connection is answered after the server has read that this one is cancelled.
    await client.echo(
      { text: '' },
      { principal, requestId: 'req_2', deadline: Date.now() + 5_000 },
    );
    expect(contexts[0]!.signal.aborted).toBe(true);
    goOn();
  });

  it('costs no controller in a call whose handler does not ask for it', async () => {
    const made = jest.spyOn(globalThis, 'AbortController');
    handle = () => Promise.resolve();
    await expect(call()).resolves.toEqual({ text: 'done' });
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });
});
