import type { AcceptOutcome } from './smtp-delivery';
import { replyToOutcomes, SmtpRefusal } from './smtp-replies';

const accepted: AcceptOutcome = { kind: 'accepted' };
const deferred: AcceptOutcome = { kind: 'deferred', text: 'Busy' };
const rejected: AcceptOutcome = { kind: 'rejected', text: 'No' };
const full: AcceptOutcome = { kind: 'over_quota' };

describe('the one reply of SMTP for several recipients', () => {
  it.each<[string, AcceptOutcome[], number | string]>([
    ['all took it', [accepted, accepted], '2.6.0 Ok: queued as Q1'],
    ['all refuse it', [rejected, rejected], 554],
    ['one is to be tried again', [accepted, deferred], 451],
    ['one is full', [accepted, full], 452],
    ['one refuses it', [accepted, rejected], 451],
    ['nobody decided', [], 451],
  ])('when %s', (_, outcomes, expected) => {
    const reply = replyToOutcomes(outcomes, 'Q1');
    expect(reply instanceof SmtpRefusal ? reply.responseCode : reply).toBe(expected);
  });
});
