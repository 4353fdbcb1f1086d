import { UnavailableError } from '@dak/kernel';
import { failureReport, type FailureLog } from './failure-report';

function reporting() {
  const lines: unknown[] = [];
  const write = (level: string) => (fields: object, what: string) => {
    lines.push({ level, what, ...fields });
  };
  const clock = { now: 0 };
  const logger: FailureLog = { warn: write('warn'), error: write('error') };
  return { lines, clock, report: failureReport(logger, 'mail was not moved', () => clock.now) };
}

describe('failureReport', () => {
  it('warns of an outage, which heals by itself, and tells of anything else as an error', () => {
    const { lines, report } = reporting();
    report(new UnavailableError('The database cannot be reached.'));
    report(new TypeError('x is not a function'));
    expect(lines).toMatchObject([
      { level: 'warn', what: 'mail was not moved' },
      { level: 'error' },
    ]);
  });

  it('takes refused connections and a PostgreSQL that ends for an outage', () => {
    for (const code of ['ECONNREFUSED', '57P01']) {
      const { lines, report } = reporting();
      report(Object.assign(new Error('gone'), { code }));
      expect(lines).toMatchObject([{ level: 'warn' }]);
    }
  });

  it('says the same once in 30 s and counts what it left out', () => {
    const { lines, clock, report } = reporting();
    for (let round = 0; round < 100; round += 1) {
      clock.now = round * 500;
      report(new UnavailableError('The database cannot be reached.'));
    }
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ repeated: 59 });
  });
});
