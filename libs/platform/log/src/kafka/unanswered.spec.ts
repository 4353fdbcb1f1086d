import type { RecordMetadata } from 'kafkajs';
import { unanswered } from './unanswered';

const answered = (
  partition: number,
  baseOffset: string | undefined,
  errorCode = 0,
): RecordMetadata => ({
  topicName: 'notes.v1',
  partition,
  errorCode,
  ...(baseOffset === undefined ? {} : { baseOffset }),
});

describe('the partitions of a batch that no broker confirmed', () => {
  const sent = new Map([
    ['notes.v1', [{ partition: 0 }, { partition: 2 }, { partition: 2 }]],
    ['orders.v1', [{ partition: 2 }]],
  ]);

  it('are none when each has an offset', () => {
    const answer = [
      answered(0, '0'),
      answered(2, '7'),
      { ...answered(2, '9'), topicName: 'orders.v1' },
    ];
    expect(unanswered(sent, answer)).toEqual([]);
  });

  it('are those that are absent, failed or without an offset', () => {
    expect(unanswered(sent, [])).toEqual(['notes.v1/0', 'notes.v1/2', 'orders.v1/2']);
    expect(unanswered(sent, [answered(0, '4'), null])).toEqual(['notes.v1/2', 'orders.v1/2']);
    expect(
      unanswered(new Map([['notes.v1', [{ partition: 0 }, { partition: 2 }]]]), [
        answered(0, '-1'),
        answered(2, '3', 6),
      ]),
    ).toEqual(['notes.v1/0', 'notes.v1/2']);
  });
});
