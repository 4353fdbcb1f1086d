import * as fc from 'fast-check';
import { auditHash, canonicalJson, GENESIS_HASH, type AuditEntry } from './audit-entry';

const entry: AuditEntry = {
  id: '01900000-0000-7000-8000-000000000000',
  organizationId: '01900000-0000-7000-8000-000000000001',
  sequence: 1,
  at: '2026-01-31T09:30:00.000Z',
  actor: { type: 'system', id: null, name: 'system' },
  action: 'organization.created',
  target: { type: 'organization', id: null },
  outcome: 'succeeded',
  requestId: 'r',
  details: { name: 'Demo', list: [1, 'two', null, { b: true, a: false }] },
  previousHash: GENESIS_HASH,
};

describe('the hash of an audit entry', () => {
  it('stays what it is: stored chains must verify for ever', () => {
    expect(auditHash(entry)).toBe(
      'd53fae357a9775edc4e4f5244550908d06ac66a99b000b744b8e881f28da9b61',
    );
  });

  it('does not depend on the order of members, which a database may change', () => {
    const { details, ...rest } = entry;
    expect(auditHash({ details: { list: details['list'], name: 'Demo' }, ...rest })).toBe(
      auditHash(entry),
    );
  });

  it('depends on every member', () => {
    const changed: Partial<AuditEntry>[] = [
      { sequence: 2 },
      { at: '2026-01-31T09:30:00.001Z' },
      { actor: { type: 'system', id: null, name: 'x' } },
      { outcome: 'refused' },
      { details: { name: 'Demo' } },
      { previousHash: '1'.repeat(64) },
    ];
    for (const change of changed) {
      expect(auditHash({ ...entry, ...change })).not.toBe(auditHash(entry));
    }
  });
});

describe('canonical JSON', () => {
  it('parses back to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
