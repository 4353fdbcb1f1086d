import type { LogMessage } from '../log';
import { partitionOf } from '../murmur2';
import { sendBatches } from './send-batches';

const message = (id: string, key: string, bytes: number): LogMessage => ({
  id,
  topic: 't',
  key,
  headers: {},
  payload: Buffer.alloc(bytes),
});
const idsOf = (batches: ReturnType<typeof sendBatches>): string[][] =>
  batches.map((batch) => batch.map(({ message: { id } }) => id));

describe('sendBatches', () => {
  it('keeps together what fits', () => {
    expect(
      idsOf(sendBatches([message('1', 'a', 10), message('2', 'b', 10)], () => 3, 1_000)),
    ).toEqual([['1', '2']]);
  });

  it('cuts before a partition would get too much, in order', () => {
    const messages = ['1', '2', '3', '4'].map((id) => message(id, 'a', 300));
    expect(idsOf(sendBatches(messages, () => 3, 1_000))).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  it('counts each partition for itself', () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const other = keys.find((key) => partitionOf(key, 2) !== partitionOf('a', 2))!;
    const messages = [message('1', 'a', 700), message('2', other, 700)];
    expect(idsOf(sendBatches(messages, () => 2, 1_000))).toEqual([['1', '2']]);
  });

  it('sends a message above the limit alone', () => {
    const messages = [message('1', 'a', 10), message('2', 'a', 5_000), message('3', 'a', 10)];
    expect(idsOf(sendBatches(messages, () => 1, 1_000))).toEqual([['1'], ['2'], ['3']]);
  });

  it('says to which partition each key belongs', () => {
    const [batch] = sendBatches([message('1', 'foobar', 1)], () => 12, 1_000);
    expect(batch![0]!.partition).toBe(partitionOf('foobar', 12));
  });
});
