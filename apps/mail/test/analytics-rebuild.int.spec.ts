import fc from 'fast-check';
import type { EventEnvelope } from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import { slowPeer } from '@dak/testing/waiting';
import { rebuildModel } from '../src/analytics/rebuild-model';
import { eventsIn, modelOf, take } from './analytics-fixtures';
import { openMailDatabase, type MailDatabase } from './mail-fixtures';

const START = Date.parse('2026-03-01T00:00:00Z');
const PEOPLE = ['Asha', 'Bela', 'Asha Rao'].map((name, index) => ({
  type: index === 1 ? 'agent' : 'user',
  id: `00000000-0000-7000-8000-00000000000${index % 2}`,
  name,
}));
const DEPARTMENTS = [null, uuidv7(), uuidv7()];
const STATUSES = ['open', 'pending', 'waiting', 'snoozed', 'resolved', 'closed'];

/** One thing that happens in one of a few conversations; numbers choose among what there is. */
interface Step {
  conversation: number;
  what: number;
  choice: number;
  minutes: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  conversation: fc.nat(4),
  what: fc.nat(11),
  choice: fc.nat(59),
  minutes: fc.nat(600),
});
/** Events per transaction, and whether the one before is delivered again. */
const delivery = fc.record({ size: fc.integer({ min: 1, max: 9 }), again: fc.boolean() });

describe('a rebuilt model', () => {
  let mail: MailDatabase;
  beforeAll(async () => {
    mail = await openMailDatabase(6);
  });
  afterAll(() => mail.close());

  it('equals the one that grew with the events, whatever happened and however often it was told', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 60 }),
        fc.infiniteStream(delivery),
        async (steps, deliveries) => {
          const organizationId = uuidv7();
          const events = history(organizationId, steps);
          let before: EventEnvelope[] = [];
          for (let taken = 0; taken < events.length;) {
            const { size, again } = deliveries.next().value!;
            const batch = events.slice(taken, taken + size);
            await take(mail.database, again ? [...before, ...batch] : batch);
            before = batch;
            taken += size;
          }
          const grown = await modelOf(mail.database, organizationId);
          await rebuildModel(mail.database, organizationId);
          expect(await modelOf(mail.database, organizationId)).toBe(grown);
          expect(grown.split('\n').length).toBeGreaterThan(3);
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it('takes in what happens while it is made', async () => {
    const organizationId = uuidv7();
    const steps = fc.sample(step, { numRuns: 3_000, seed: 7 });
    const events = history(organizationId, steps);
    await take(mail.database, events.slice(0, 2_000));
    let isRebuilt = false;
    const arriving = (async () => {
      for (let at = 2_000; at < events.length; at += 10) {
        await take(mail.database, events.slice(at, at + 10));
        if (isRebuilt) await slowPeer(1);
      }
    })();
    const { entries } = await rebuildModel(mail.database, organizationId);
    isRebuilt = true;
    expect(entries).toBeGreaterThanOrEqual(1_500);
    await arriving;
    const grown = await modelOf(mail.database, organizationId);
    await rebuildModel(mail.database, organizationId);
    expect(await modelOf(mail.database, organizationId)).toBe(grown);
  }, 60_000);

  it('leaves nothing behind of the model before, nor of a rebuild that was interrupted', async () => {
    const organizationId = uuidv7();
    await take(mail.database, history(organizationId, fc.sample(step, { numRuns: 50, seed: 1 })));
    const grown = await modelOf(mail.database, organizationId);
    await mail.database.inTenant(organizationId, (tx) =>
      tx.query(
        `insert into analytics_person (organization_id, generation, type, id, name)
         values ($1, 2, 'user', 'left', 'Left over')`,
        [organizationId],
      ),
    );
    await rebuildModel(mail.database, organizationId);
    await rebuildModel(mail.database, organizationId);
    expect(await modelOf(mail.database, organizationId)).toBe(grown);
    const { rows } = await mail.database.inTenant(organizationId, (tx) =>
      tx.query<{ generation: number }>(
        `select distinct generation from analytics_fact
          union select generation from analytics_conversation
          union select generation from analytics_person`,
      ),
    );
    expect(rows).toEqual([{ generation: 3 }]);
  });

  it('is made by one at a time', async () => {
    const organizationId = uuidv7();
    await take(mail.database, history(organizationId, fc.sample(step, { numRuns: 500, seed: 2 })));
    const results = await Promise.allSettled([
      rebuildModel(mail.database, organizationId),
      rebuildModel(mail.database, organizationId),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

function history(organizationId: string, steps: readonly Step[]): EventEnvelope[] {
  const mailboxId = uuidv7();
  const conversations = Array.from({ length: 5 }, () => {
    const conversationId = uuidv7();
    return { conversationId, events: eventsIn({ organizationId, mailboxId, conversationId }) };
  });
  return steps.map(({ conversation, what, choice, minutes }, index) => {
    const { events } = conversations[conversation]!;
    const at = new Date(START + (index * 600 + minutes) * 60_000).toISOString();
    const person = PEOPLE[choice % PEOPLE.length]!;
    const reason = choice % 7 === 0 ? 'merged' : choice % 7 === 1 ? 'split' : 'status_changed';
    switch (what) {
      case 0:
      case 1:
        return events.received(at, {
          newConversation: choice % 2 === 0,
          imported: choice % 5 === 0,
          kind: choice % 3 === 0 ? 'auto_reply' : 'human',
        });
      case 2:
        return events.sent(at, person, { attempts: 1 + (choice % 2), automatic: choice % 5 === 0 });
      case 3:
        return events.failed(at, choice % 2 === 0 ? 'suppressed' : 'refused', 1 + (choice % 3));
      case 4:
        return events.bounced(at, choice % 2 === 0);
      case 5:
        return events.complained(at);
      case 6:
        return events.changed(at, { assignee: choice % 4 === 0 ? null : person });
      case 7:
        return events.changed(at, { department_id: DEPARTMENTS[choice % 3] });
      case 8:
        return events.changed(
          at,
          {
            merged_into_id: conversations[choice % 5]!.conversationId,
            waiting_since: choice % 2 === 0 ? at : null,
          },
          { reason },
        );
      case 9:
        return events.changed(
          at,
          { mailbox_id: mailboxId, status: 'open', waiting_since: choice % 2 === 0 ? at : null },
          { isNew: true, reason: choice % 2 === 0 ? 'created' : 'split' },
        );
      default:
        return events.changed(at, { status: STATUSES[choice % 6] }, { reason, actor: person });
    }
  });
}
