import { UnavailableError } from '@dak/kernel';
import type { MailKeeper } from '../backend/keepers';
import { runRetention, type RetentionDeps } from './run-retention';

describe('a round of retention', () => {
  it('goes on with the other organizations when one fails, and fails in the end', async () => {
    const swept: string[] = [];
    const mail: MailKeeper = {
      removeExpired: async (id) => {
        if (id === 'a') throw new UnavailableError('A table is locked.');
        return { messages: 0, conversations: 0, mailboxes: 0, more: false };
      },
      listRemoved: async () => [],
      acknowledgeRemoved: async () => undefined,
      sweepBlobs: async (id) => {
        swept.push(id);
        return { blobs: 0, bytes: 0, more: false };
      },
    };
    const rows = ['a', 'b', 'c'].map((id) => ({ id, retentionDays: 30 }));
    const deps = {
      database: { asWorker: async () => ({ rows }) },
      mail,
      events: [],
      clock: Date.now,
    } as unknown as RetentionDeps;
    await expect(runRetention(deps, { pace: 'fast', isThorough: true })).rejects.toThrow('locked');
    expect(swept).toEqual(['b', 'c']);
  });
});
