import { InvalidError, UnavailableError } from '@dak/kernel';
import { reportHandlingFailures } from './failure-log';
import type { HandlingFailure } from './log';

function reporting() {
  const lines: Record<string, unknown>[] = [];
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, message, ...fields });
  };
  return { lines, report: reportHandlingFailures({ warn: write('warn'), error: write('error') }) };
}

const failure = (changes: Partial<HandlingFailure>): HandlingFailure => ({
  ...{ group: 'rules', topic: 'mail.events.v1', key: 'org:conversation', eventId: 'evt_1' },
  ...{ events: 3, error: new InvalidError('broken'), outcome: 'parked' },
  ...changes,
});

describe('what the log says of a handler that throws', () => {
  it('names group, topic, key and event of every key that is parked, as an error', () => {
    const { lines, report } = reporting();
    report(failure({}));
    report(failure({ key: 'another' }));
    expect(lines).toMatchObject([
      {
        level: 'error',
        group: 'rules',
        topic: 'mail.events.v1',
        key: 'org:conversation',
        event_id: 'evt_1',
        events: 3,
        err: { message: 'broken' },
      },
      { level: 'error', key: 'another' },
    ]);
    expect(lines[0]!['message']).toContain('npm run parked');
  });

  it('warns once in a while of each group that waits for something that is away', () => {
    const { lines, report } = reporting();
    const error = new UnavailableError('away');
    for (let n = 0; n < 50; n += 1) report(failure({ outcome: 'waits', error }));
    report(failure({ outcome: 'waits', error, group: 'webhooks' }));
    report(failure({ outcome: 'repeated', error: new TypeError('x') }));
    expect(lines).toMatchObject([
      { level: 'warn', group: 'rules', event_id: 'evt_1' },
      { level: 'warn', group: 'webhooks' },
      { level: 'error', group: 'rules' },
    ]);
  });
});
