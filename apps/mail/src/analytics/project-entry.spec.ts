import type { ConversationState } from './conversation-state';
import type { EntryContent, JournalEntry } from './journal-entry';
import { projectEntry } from './project-entry';

const AT = '2026-03-01T10:00:00.000Z';

function entry(content: EntryContent, overrides: Partial<JournalEntry> = {}): JournalEntry {
  return {
    organizationId: 'o',
    eventId: 'e',
    occurredAt: AT,
    mailboxId: 'm',
    departmentId: 'd',
    conversationId: 'c',
    messageId: null,
    actor: { type: 'user', id: 'u', name: 'Asha' },
    content,
    ...overrides,
  };
}

function received(facts: Partial<Extract<EntryContent, { kind: 'mail.received' }>['facts']> = {}) {
  return entry({
    kind: 'mail.received',
    facts: {
      received_at: AT,
      kind: 'human',
      new: true,
      imported: false,
      status: 'open',
      authentication: null,
      ...facts,
    },
  });
}

function changed(facts: Partial<Extract<EntryContent, { kind: 'conversation.updated' }>['facts']>) {
  return entry({ kind: 'conversation.updated', facts: { reason: 'status_changed', ...facts } });
}

function after(...entries: JournalEntry[]): ConversationState {
  return entries.reduce<ConversationState | null>(
    (state, next) => projectEntry(state, next).state,
    null,
  )!;
}

const measures = (state: ConversationState | null, next: JournalEntry) =>
  projectEntry(state, next).facts.map(({ measure, amount }) =>
    measure === 'backlog' ? `backlog ${amount}` : measure,
  );

describe('what an event does to the numbers', () => {
  it('opens a conversation and puts it into the backlog when its first mail comes', () => {
    expect(measures(null, received())).toEqual(['opened', 'received', 'backlog 1']);
  });

  it('counts when mail arrived, not when it was stored', () => {
    const arrived = '2026-03-01T09:00:00.000Z';
    const { facts } = projectEntry(null, received({ received_at: arrived }));
    expect(facts.every(({ at }) => at === arrived)).toBe(true);
  });

  it('does not take the event that completes a new conversation for a second opening', () => {
    const created = changed({ reason: 'created', created: true, status: 'open' });
    expect(measures(after(received()), created)).toEqual([]);
  });

  it('opens a conversation that we begin', () => {
    const created = changed({ reason: 'created', created: true, status: 'waiting' });
    expect(measures(null, created)).toEqual(['opened', 'backlog 1']);
  });

  it('measures nothing of a conversation whose beginning it has not seen', () => {
    const sent = entry({ kind: 'mail.sent', facts: { automatic: false, attempts: 1 } });
    const seen = after(received({ new: false }));
    expect(measures(seen, sent)).toEqual(['sent']);
    const { facts } = projectEntry(seen, changed({ status: 'resolved' }));
    expect(facts).toMatchObject([
      { measure: 'resolved', milliseconds: null },
      { measure: 'backlog', amount: -1 },
    ]);
  });

  it('takes the first delivery for the response, and no automatic one', () => {
    const state = after(received());
    const sent = (automatic: boolean) =>
      entry({ kind: 'mail.sent', facts: { automatic, attempts: 1 } });
    expect(measures(state, sent(true))).toEqual(['sent_automatic']);
    expect(measures(state, sent(false))).toEqual(['sent', 'first_response']);
    expect(measures(after(received(), sent(false)), sent(false))).toEqual(['sent']);
    expect(measures(after(received({ kind: 'auto_reply' })), sent(false))).toEqual(['sent']);
  });

  it('is not shaken by clocks that disagree', () => {
    const early = { occurredAt: '2026-03-01T09:59:59.000Z' };
    const sent = entry({ kind: 'mail.sent', facts: { automatic: false, attempts: 1 } }, early);
    const { facts } = projectEntry(after(received()), sent);
    expect(facts.find(({ measure }) => measure === 'first_response')?.milliseconds).toBe(0);
  });

  it('resolves once, whether it is closed afterwards or at once', () => {
    const resolved = after(received(), changed({ status: 'resolved' }));
    expect(measures(resolved, changed({ status: 'closed' }))).toEqual([]);
    expect(measures(after(received()), changed({ status: 'closed' }))).toEqual([
      'resolved',
      'backlog -1',
    ]);
    expect(measures(resolved, changed({ status: 'open' }))).toEqual(['reopened', 'backlog 1']);
  });

  it('moves the backlog to where the conversation goes', () => {
    const { facts } = projectEntry(after(received()), changed({ department_id: 'other' }));
    expect(facts).toMatchObject([
      { measure: 'backlog', amount: -1, departmentId: 'd' },
      { measure: 'backlog', amount: 1, departmentId: 'other' },
    ]);
  });

  it('counts events of no conversation as they are', () => {
    const action = entry(
      { kind: 'agent.action', facts: { outcome: 'executed' } },
      { conversationId: null, mailboxId: null },
    );
    expect(projectEntry(null, action)).toMatchObject({
      state: null,
      facts: [{ measure: 'agent_action', detail: 'executed', departmentId: 'd' }],
    });
  });
});
