import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDeliveryJournal, type JournalEntry } from './delivery-journal';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dak-journal-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const file = () => join(folder, 'deliveries.journal');

/** The state that a process killed now would leave to its successor. */
async function afterKill<T>(then: (journalFolder: string) => Promise<T>): Promise<T> {
  const left = await readFile(file());
  const successor = await mkdtemp(join(tmpdir(), 'dak-journal-'));
  try {
    await writeFile(join(successor, 'deliveries.journal'), left);
    return await then(successor);
  } finally {
    await rm(successor, { recursive: true, force: true });
  }
}

async function inheritedIn(journalFolder: string): Promise<readonly JournalEntry[]> {
  const journal = await openDeliveryJournal(journalFolder);
  await journal.close();
  return journal.inherited;
}

function acceptance(deliveryId: string): JournalEntry {
  return {
    organizationId: '00000000-0000-7000-8000-000000000001',
    deliveryId,
    epoch: 1,
    transport: 'relay',
    smtpCode: 250,
    enhanced: '2.0.0',
    text: 'Später zugestellt',
  };
}

describe('journal of deliveries', () => {
  it('tells a successor what was noted and not committed', async () => {
    const journal = await openDeliveryJournal(folder);
    await journal.note([acceptance('a'), acceptance('b')]);
    expect(await afterKill(inheritedIn)).toEqual([acceptance('a'), acceptance('b')]);
    journal.committed(2);
    await journal.close();
    expect(await inheritedIn(folder)).toEqual([]);
  });

  it('a line torn by a crash takes nothing with it that is noted after it', async () => {
    const whole = `${JSON.stringify(acceptance('a'))}\n`;
    await writeFile(file(), whole + whole.slice(0, -10));
    const journal = await openDeliveryJournal(folder);
    expect(journal.inherited).toEqual([acceptance('a')]);
    await journal.note([acceptance('b')]);
    expect(await afterKill(inheritedIn)).toEqual([acceptance('a'), acceptance('b')]);
    await journal.close();
  });

  it('what cannot be written is a rejection, not an exception of the caller', async () => {
    const journal = await openDeliveryJournal(folder);
    await journal.close();
    const noted = journal.note([acceptance('a')]);
    await expect(noted).rejects.toThrow();
  });
});
