import { afterLook, grantedDomain, judgeOwnership, newDomain, ownershipRecord } from './domain';

const NOW = Date.UTC(2026, 10, 23);
const LATER = NOW + 1_000;

describe('a look at the record of a domain', () => {
  it.each([
    [{ kind: 'failed' }, 'temporary_failure', null],
    [{ kind: 'none' }, 'missing', null],
    [{ kind: 'records', values: [] }, 'missing', null],
    [{ kind: 'records', values: ['other', 'more'] }, 'invalid', 'other'],
    [{ kind: 'records', values: ['other', ' expected '] }, 'valid', null],
    [{ kind: 'records', values: ['expected and more'] }, 'invalid', 'expected and more'],
  ] as const)('%j is %s', (answer, status, foundValue) => {
    expect(judgeOwnership(answer, 'expected')).toEqual({ status, foundValue });
  });

  it('keeps a long text in part', () => {
    const long = { kind: 'records', values: ['x'.repeat(70_000)] } as const;
    expect(judgeOwnership(long, 'expected').foundValue).toHaveLength(500);
  });

  it('verifies a pending domain when the record is there, and takes nothing away', () => {
    const row = newDomain('customer.example', NOW);
    const valid = { status: 'valid', foundValue: null } as const;
    const failed = { status: 'temporary_failure', foundValue: null } as const;
    expect(afterLook(row, failed, LATER)).toMatchObject({
      status: 'pending',
      record_status: 'temporary_failure',
      verified_at: null,
      version: 2,
    });
    const verified = afterLook({ ...row, is_contested: true }, valid, LATER);
    expect(verified).toMatchObject({
      status: 'verified',
      is_contested: false,
      verified_at: new Date(LATER).toISOString(),
    });
    const missing = { status: 'missing', foundValue: null } as const;
    for (const owned of [verified, grantedDomain('customer.example', NOW)]) {
      expect(afterLook(owned, missing, LATER)).toMatchObject({
        status: 'verified',
        verified_at: owned.verified_at,
        record_status: 'missing',
      });
    }
  });

  it('asks for a value of its own each time', () => {
    const values = Array.from({ length: 100 }, () =>
      ownershipRecord(newDomain('customer.example', NOW)),
    );
    expect(new Set(values.map(({ value }) => value)).size).toBe(100);
    expect(values[0]).toMatchObject({ name: '_dak-ownership.customer.example' });
    expect(values[0]!.value.length).toBeLessThan(255);
  });
});
