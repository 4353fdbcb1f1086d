import { promises } from 'node:dns';
import { eventually } from '@dak/testing/waiting';
import {
  createGuardedHttp,
  parseAllowance,
  type AttemptOutcome,
  type GuardedHttp,
  type GuardedHttpOptions,
  type PostRequest,
} from '../src/index';
import { CERTIFICATE_AUTHORITY } from './certificates';
import {
  startMuteReceiver,
  startRawReceiver,
  startReceiver,
  type HostileReceiver,
  type ANSWERS,
  type RAW_ANSWERS,
} from './hostile-receiver';
import { startNeverAccepting } from './never-accepting';

const DEADLINE_MS = 800;
const BODY = Buffer.from('{"type":"mail.received"}');
const MB = 1024 * 1024;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function client(options: Partial<GuardedHttpOptions> = {}): GuardedHttp {
  const http = createGuardedHttp({
    allow: parseAllowance('127.0.0.1'),
    connectTimeoutMs: 300,
    ca: CERTIFICATE_AUTHORITY,
    ...options,
  });
  closing.push(() => http.close());
  return http;
}

async function opened<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const receiver = await starting;
  closing.push(() => receiver.close());
  return receiver;
}

const receiver = (...[behavior, options]: Parameters<typeof startReceiver>) =>
  opened(startReceiver(behavior, options));

function post(http: GuardedHttp, url: string, changes: Partial<PostRequest> = {}) {
  return http.post(url, {
    headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
    body: BODY,
    timeoutMs: DEADLINE_MS,
    ...changes,
  });
}

async function timed(outcome: Promise<AttemptOutcome>) {
  const startedAt = performance.now();
  const result = await outcome;
  return { result, tookMs: performance.now() - startedAt };
}

describe('a receiver that behaves', () => {
  it('gets the request as given, with fixed headers, over one connection', async () => {
    const sink = await receiver('echo');
    const http = client();
    const first = await post(http, `${sink.url}/a%20b?c=d`);
    await post(http, sink.url);
    expect(first).toMatchObject({ kind: 'response', status: 200, truncated: false });
    expect(first.kind === 'response' && first.bodyStart.toString()).toBe('thank you');
    expect(sink.requests[0]).toMatchObject({
      method: 'POST',
      body: BODY,
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'content-length': String(BODY.length),
        'user-agent': 'Dak-Webhooks/1.0',
        'accept-encoding': 'identity',
      },
    });
    expect(sink.connections.accepted).toBe(1);
  });

  it('is reached over TLS when its certificate is good', async () => {
    const sink = await receiver('ok', { certificate: 'good' });
    expect(await post(client(), sink.url)).toMatchObject({ kind: 'response', status: 204 });
  });

  it('is reached directly, whatever proxy the environment names', async () => {
    const sink = await receiver('ok');
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:1',
      http_proxy: 'http://127.0.0.1:1',
    });
    try {
      expect(await post(client(), sink.url)).toMatchObject({ kind: 'response', status: 204 });
    } finally {
      process.env = before;
    }
  });

  it('sees its connections closed when they have been idle, and when too many others came', async () => {
    const sinks = [await receiver('ok'), await receiver('ok')] as const;
    const http = client({ maxOrigins: 1, idleMs: 100 });
    await post(http, sinks[0].url);
    await post(http, sinks[1].url);
    await eventually(() => sinks[0].connections.open === 0);
    await eventually(() => sinks[1].connections.open === 0);
    expect(await post(http, sinks[0].url)).toMatchObject({ kind: 'response', status: 204 });
  });
});

describe('a hostile receiver', () => {
  type Expected = Partial<Record<keyof AttemptOutcome | 'status' | 'truncated' | 'code', unknown>>;
  const outcomes: Record<keyof typeof ANSWERS, Expected> = {
    ok: { kind: 'response', status: 204, truncated: false },
    echo: { kind: 'response', status: 200, truncated: false },
    gone: { kind: 'response', status: 410, truncated: false },
    broken: { kind: 'response', status: 500, truncated: false },
    redirectToMetadata: { kind: 'response', status: 307, truncated: false },
    overloadedForAges: { kind: 'response', status: 429, truncated: false },
    drippingBody: { kind: 'response', status: 200, truncated: true },
    drippingFailure: { kind: 'response', status: 503, truncated: true },
    gigabyte: { kind: 'response', status: 200, truncated: true },
    gzipBomb: { kind: 'response', status: 200, truncated: true },
    hugeHeader: { kind: 'error', code: 'oversize' },
    manyHeaders: { kind: 'error', code: 'oversize' },
    bodyCutShort: { kind: 'response', status: 200, truncated: true },
    resetAfterRequest: { kind: 'error', code: 'reset' },
    closeAfterRequest: { kind: 'error', code: 'reset' },
    silent: { kind: 'error', code: 'timeout' },
    lateNoContent: { kind: 'error', code: 'timeout' },
  };

  it.each(Object.entries(outcomes))('%s: %j', async (behavior, expected) => {
    const sink = await receiver(behavior as keyof typeof ANSWERS);
    const { result, tookMs } = await timed(post(client(), sink.url));
    expect(result).toMatchObject(expected);
    // A second more for a body that follows the status.
    expect(tookMs).toBeLessThan(DEADLINE_MS + 1_300);
    expect(sink.requests).toHaveLength(1);
    if (result.kind === 'response') expect(result.bodyStart.length).toBeLessThanOrEqual(16_384);
  });

  const rawOutcomes: Record<keyof typeof RAW_ANSWERS, Expected> = {
    drippingHeaders: { kind: 'error', code: 'timeout' },
    endlessInformational: { kind: 'error', code: 'timeout' },
    garbage: { kind: 'error', code: 'protocol' },
    answersTwice: { kind: 'response', status: 204 },
    upgrade: { kind: 'error' },
  };

  it.each(Object.entries(rawOutcomes))('%s: %j', async (behavior, expected) => {
    const sink = await opened(startRawReceiver(behavior as keyof typeof RAW_ANSWERS));
    const { result, tookMs } = await timed(post(client(), sink.url));
    expect(result).toMatchObject(expected);
    expect(tookMs).toBeLessThan(DEADLINE_MS + 300);
  });

  it('that answers twice does not answer the next request with it', async () => {
    const sink = await opened(startRawReceiver('answersTwice'));
    const http = client();
    const statuses: unknown[] = [];
    for (let index = 0; index < 4; index += 1) {
      const outcome = await post(http, sink.url);
      statuses.push(outcome.kind === 'response' ? outcome.status : outcome.code);
    }
    expect(statuses).not.toContain(410);
  });

  it.each(['gigabyte', 'gzipBomb', 'drippingBody'] as const)(
    'that sends %s is cut off: the connection closes, little was read',
    async (behavior) => {
      const sink = await receiver(behavior);
      await post(client(), sink.url);
      await eventually(() => sink.connections.open === 0);
      expect(sink.bytesSent()).toBeLessThan(16 * MB);
    },
  );

  it('costs little memory, fifty at a time', async () => {
    const sink = await receiver('gigabyte');
    const http = client();
    await post(http, sink.url);
    const before = process.memoryUsage().rss;
    await Promise.all(Array.from({ length: 50 }, () => post(http, sink.url)));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB);
  });

  it('that never accepts or never ends the handshake is left after the time for connecting', async () => {
    const full = await opened(startNeverAccepting());
    const mute = await opened(startMuteReceiver());
    for (const url of [full.url, mute.url.replace('http:', 'https:')]) {
      const { result, tookMs } = await timed(post(client(), url, { timeoutMs: 5_000 }));
      expect(result).toMatchObject({ kind: 'error', code: 'connect_timeout' });
      expect(tookMs).toBeLessThan(2_500);
    }
  });

  it('gets nothing once the deadline has passed while connecting', async () => {
    const late = Promise.withResolvers<undefined>();
    const sink = await receiver('ok');
    const http = client({
      allow: parseAllowance('localhost'),
      connectTimeoutMs: 5_000,
      resolve: async () => {
        await late.promise;
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    const url = sink.url.replace('127.0.0.1', 'localhost');
    expect(await post(http, url, { timeoutMs: 100 })).toMatchObject({ code: 'timeout' });
    late.resolve(undefined);
    await eventually(() => sink.connections.accepted === 1);
    // What was still sent would come before this, over the connection that is open.
    expect(await post(http, url, { timeoutMs: 5_000 })).toMatchObject({ kind: 'response' });
    expect(sink.requests).toHaveLength(1);
  });

  it.each(['expired', 'otherName'] as const)(
    'with a certificate that is %s gets nothing',
    async (certificate) => {
      const sink = await receiver('ok', { certificate });
      expect(await post(client(), sink.url)).toMatchObject({ kind: 'error', code: 'tls' });
      expect(sink.requests).toEqual([]);
    },
  );

  it('cannot make us trust it by the environment', async () => {
    const sink = await receiver('ok', { certificate: 'expired' });
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await post(client(), sink.url)).toMatchObject({ kind: 'error', code: 'tls' });
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('that speaks no TLS is told from one that cannot be reached', async () => {
    const sink = await receiver('ok');
    expect(await post(client(), sink.url.replace('http:', 'https:'))).toMatchObject({
      code: 'tls',
    });
    await sink.close();
    closing.pop();
    expect(await post(client(), sink.url)).toMatchObject({ kind: 'error', code: 'refused' });
  });
});

describe('the resolver', () => {
  const named = (sink: HostileReceiver) => sink.url.replace('127.0.0.1', 'hooks.example.com');
  const answers = (...addresses: string[]) =>
    jest.fn(async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

  it('is asked, and every answer judged, before anything is dialed', async () => {
    const sink = await receiver('ok');
    const http = client({
      allow: parseAllowance(`10.0.0.0/8,127.0.0.1:${sink.port}`),
      resolve: answers('127.0.0.1', '192.168.0.1'),
    });
    expect(await post(http, named(sink))).toMatchObject({ kind: 'error', code: 'blocked_address' });
    expect(sink.connections.accepted).toBe(0);
  });

  it('that flips from a public address to ours is caught', async () => {
    const sink = await receiver('ok', { certificate: 'good' });
    const flips = answers('203.0.113.7');
    const http = client({ allow: parseAllowance(''), resolve: flips, connectTimeoutMs: 100 });
    const url = 'https://hooks.example.com:8443/';
    // 203.0.113.0/24 is for documentation and so not public; 198.41.0.4 is, but must not be dialed in a test.
    expect(await post(http, url)).toMatchObject({ code: 'blocked_address' });
    flips.mockResolvedValue([{ address: '127.0.0.1', family: 4 }]);
    expect(await post(http, url)).toMatchObject({ code: 'blocked_address' });
    expect(flips).toHaveBeenCalledTimes(2);
    expect(sink.connections.accepted).toBe(0);
  });

  it('is not asked again for a connection that was judged and is still open', async () => {
    const sink = await receiver('ok');
    const flips = answers('127.0.0.1');
    const http = client({ allow: parseAllowance('127.0.0.0/8'), resolve: flips });
    await post(http, named(sink));
    flips.mockResolvedValue([{ address: '169.254.169.254', family: 4 }]);
    expect(await post(http, named(sink))).toMatchObject({ status: 204 });
    expect(sink.connections.accepted).toBe(1);
  });

  it('that has no answer, or fails, is told as dns', async () => {
    const url = 'https://hooks.example.com/';
    expect(await post(client({ resolve: answers() }), url)).toMatchObject({ code: 'dns' });
    const failing = () => Promise.reject(new Error('SERVFAIL'));
    expect(await post(client({ resolve: failing }), url)).toMatchObject({ code: 'dns' });
  });

  it('of the system knows localhost', async () => {
    const sink = await receiver('ok');
    const http = client({ allow: parseAllowance('localhost') });
    const url = sink.url.replace('127.0.0.1', 'localhost');
    expect(await post(http, url)).toMatchObject({ kind: 'response', status: 204 });
  });

  it('may say ::1 too for localhost where only 127.0.0.1 is allowed', async () => {
    const sink = await receiver('ok');
    const url = sink.url.replace('127.0.0.1', 'localhost');
    const both = client({ resolve: answers('::1', '127.0.0.1') });
    expect(await post(both, url)).toMatchObject({ kind: 'response', status: 204 });
    const other = client({ resolve: answers('::1') });
    expect(await post(other, url)).toMatchObject({ code: 'blocked_address' });
  });

  it('cannot be skipped: addresses in every spelling are judged first', async () => {
    const sink = await receiver('ok', { certificate: 'good' });
    const resolve = jest.fn(() => promises.lookup('localhost', { all: true }));
    const http = client({
      allow: parseAllowance('https://10.0.0.1'),
      resolve,
    });
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '127.1',
    ]) {
      const url = `https://${host}:${sink.port}/`;
      expect(await post(http, url)).toMatchObject({ kind: 'error', code: 'blocked_address' });
    }
    expect(resolve).not.toHaveBeenCalled();
    expect(sink.connections.accepted).toBe(0);
  });
});

describe('giving up', () => {
  it('by the signal of the caller ends the attempt at once', async () => {
    const sink = await receiver('silent');
    const http = client();
    const stop = new AbortController();
    const attempt = post(http, sink.url, { signal: stop.signal, timeoutMs: 10_000 });
    await eventually(() => sink.requests.length === 1);
    stop.abort();
    expect(await attempt).toMatchObject({ kind: 'error', code: 'aborted' });
    expect(await post(http, sink.url, { signal: stop.signal })).toMatchObject({ code: 'aborted' });
    await eventually(() => sink.connections.open === 0);
  });

  it('by closing ends every attempt and every connection', async () => {
    const sinks = [await receiver('silent'), await receiver('ok')] as const;
    const http = client();
    await post(http, sinks[1].url);
    const attempt = post(http, sinks[0].url, { timeoutMs: 10_000 });
    await eventually(() => sinks[0].requests.length === 1);
    await http.close();
    expect(await attempt).toMatchObject({ kind: 'error', code: 'aborted' });
    await eventually(() => sinks[0].connections.open + sinks[1].connections.open === 0);
    expect(await post(http, sinks[1].url)).toMatchObject({ code: 'aborted' });
  });
});
