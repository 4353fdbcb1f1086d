import { InvalidError, UnavailableError } from '@dak/kernel';
import {
  startOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from '@dak/testing/otlp-receiver';
import {
  currentTraceparent,
  inSpan,
  isTracing,
  openSpan,
  startTracing,
  streamInSpan,
  type StopTracing,
} from '../src/index';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function collected<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe('without a receiver of traces', () => {
  it('calls the work as it is, and nothing has a trace', async () => {
    const stop = await startTracing('quiet', {});
    expect(isTracing()).toBe(false);
    expect(openSpan('open', { parent: CALLER })).toBeNull();
    const promise = Promise.resolve(1);
    expect(inSpan('alone', { parent: CALLER }, () => promise)).toBe(promise);
    expect(
      await inSpan('seen', {}, async (traceparent) => [traceparent, currentTraceparent()]),
    ).toEqual([undefined, undefined]);
    await stop();
  });
});

describe('with a receiver of traces', () => {
  let receiver: OtlpReceiver;
  let stop: StopTracing;
  beforeEach(async () => {
    receiver = await startOtlpReceiver();
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
    stop = await startTracing('traced', process.env);
  });
  afterEach(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    await receiver.close();
  });

  /** What was sent until the end of tracing, by name. */
  async function sent(): Promise<Map<string, ReceivedSpan>> {
    await stop();
    return new Map(receiver.spans.map((span) => [span.name, span]));
  }

  it('puts spans below each other and below who called, under the name of the service', async () => {
    await inSpan('outer', { kind: 'server', parent: CALLER }, async (traceparent) => {
      expect(currentTraceparent()).toBe(traceparent);
      await inSpan('inner', { kind: 'client' }, async () => undefined);
      openSpan('beside', { parent: traceparent })!.end({ outcome: 'stored' });
    });
    const spans = await sent();
    const outer = spans.get('outer')!;
    expect(outer).toMatchObject({ service: 'traced', kind: 2, parentSpanId: 'b7ad6b7169203331' });
    expect(outer.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(spans.get('inner')).toMatchObject({ kind: 3, parentSpanId: outer.spanId });
    expect(spans.get('beside')).toMatchObject({
      ...{ parentSpanId: outer.spanId, traceId: outer.traceId },
      attributes: { outcome: 'stored' },
    });
    expect(isTracing()).toBe(false);
  });

  it('begins a trace where nobody called, or where what the caller says is no trace', async () => {
    for (const parent of [null, 'nonsense', `${CALLER}${'x'.repeat(100)}`]) {
      await inSpan('first', { parent }, async () => undefined);
    }
    await sent();
    expect(receiver.spans.map(({ parentSpanId }) => parentSpanId)).toEqual(['', '', '']);
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(3);
  });

  it('keeps the trace and sends nothing where the caller does not sample', async () => {
    const unsampled = CALLER.replace(/01$/, '00');
    const seen = await inSpan('quiet', { parent: unsampled }, async (traceparent) => traceparent!);
    expect(seen).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
    await sent();
    expect(receiver.spans).toEqual([]);
  });

  it('tells a fault from a refusal, and leaves out what was nothing', async () => {
    const failing = (name: string, error: Error) =>
      inSpan(name, { parent: null }, () => Promise.reject(error)).catch(() => undefined);
    await failing('refused', new InvalidError('No.', 'bad_arguments'));
    await failing('away', new UnavailableError('Later.', 1));
    await failing('broken', new Error('oh'));
    await inSpan(
      'nothing',
      { parent: null },
      async () => 0,
      (count) => count === 0,
    );
    const spans = await sent();
    expect([...spans.keys()]).toEqual(['refused', 'away', 'broken']);
    expect(spans.get('refused')).toMatchObject({
      statusCode: 0,
      attributes: { 'error.type': 'bad_arguments' },
    });
    expect(spans.get('away')!.statusCode).toBe(2);
    expect(spans.get('broken')!.statusCode).toBe(2);
  });

  it('is around all that a stream gives, also when it is not read to its end', async () => {
    async function* numbers() {
      yield 1;
      yield 2;
    }
    expect(await collected(streamInSpan('read', { parent: CALLER }, numbers))).toEqual([1, 2]);
    for await (const number of streamInSpan('left', { parent: CALLER }, numbers)) {
      expect(number).toBe(1);
      break;
    }
    expect([...(await sent()).keys()]).toEqual(['read', 'left']);
  });
});
