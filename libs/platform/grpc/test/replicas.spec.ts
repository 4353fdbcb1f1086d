import { eventually, slowPeer } from '@dak/testing/waiting';
import {
  GrpcChannel,
  PrincipalSigner,
  createClient,
  type CallOptions,
  type GrpcServer,
} from '../src/index';
import {
  EchoService,
  echoRegistry,
  principal,
  privateKey,
  startEchoServer,
  type Text,
} from './echo-service';

/** A server that answers with its name, and counts. */
async function startReplica(name: string, port = 0) {
  const registry = echoRegistry();
  const replica = { name, calls: 0, server: null as unknown as GrpcServer };
  const answer = async ({ text }: Text): Promise<Text> => {
    replica.calls += 1;
    if (text !== '') await slowPeer(Number(text));
    return { text: name };
  };
  const echo = registry.find(EchoService.echo.path);
  echo.handler = answer;
  replica.server = await startEchoServer(registry, port);
  return replica;
}
type Replica = Awaited<ReturnType<typeof startReplica>>;

describe('a channel to several replicas', () => {
  let replicas: Replica[];
  let channel: GrpcChannel;
  let client: ReturnType<typeof createClient<typeof EchoService>>;
  const options = (more: Partial<CallOptions> = {}): CallOptions => ({
    principal,
    requestId: 'req_1',
    deadline: Date.now() + 5_000,
    ...more,
  });
  const ask = async (text = '', more: Partial<CallOptions> = {}): Promise<string> =>
    (await client.echo({ text }, options(more))).text;

  beforeEach(async () => {
    replicas = [await startReplica('one'), await startReplica('two')];
    // A name and an address, as both occur in a list.
    const [one, two] = replicas.map(({ server }) => server.port);
    channel = new GrpcChannel(
      `localhost:${one},127.0.0.1:${two}`,
      new PrincipalSigner(privateKey, 'echo'),
    );
    client = createClient(EchoService, channel);
    const names = new Set<string>();
    while (names.size < 2) names.add(await ask());
    for (const replica of replicas) replica.calls = 0;
  });
  afterEach(async () => {
    await channel.close();
    for (const { server } of replicas) await server.close(0);
  });

  it('asks them in turn', async () => {
    for (let i = 0; i < 20; i += 1) await ask();
    expect(replicas.map(({ calls }) => calls)).toEqual([10, 10]);
  });

  it('loses no call that it begins after one has died, and uses it again once it is back', async () => {
    const { port } = replicas[1]!.server;
    await replicas[1]!.server.close(0);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(new Set(answers)).toEqual(new Set(['one']));
    replicas[1] = await startReplica('back', port);
    const deadline = Date.now() + 10_000;
    while (replicas[1].calls === 0 && Date.now() < deadline) await ask();
    expect(replicas[1].calls).toBeGreaterThan(0);
  });

  it('sends what was under way to a dying one once more, if that does no harm', async () => {
    const idempotency = { key: 'k', route: 'POST /x', requestHash: 'ab' };
    const kinds: Partial<CallOptions>[] = [{ isRead: true }, { idempotency }, {}];
    const calls = kinds.flatMap((kind) =>
      Array.from({ length: 10 }, () =>
        ask('200', kind).then(
          (name) => name,
          (error: Error) => error,
        ),
      ),
    );
    await eventually(() => replicas[1]!.calls >= 15);
    await replicas[1]!.server.close(0);
    const answers = await Promise.all(calls);
    expect(new Set(answers.slice(0, 20))).toEqual(new Set(['one']));
    const rest = answers.slice(20);
    expect(rest.filter((answer) => answer === 'one')).toHaveLength(5);
    const failures = rest.filter((answer) => answer !== 'one');
    expect(failures).toHaveLength(5);
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'unavailable' });
  });

  it('says that the service is away when none is left', async () => {
    for (const { server } of replicas) await server.close(0);
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
