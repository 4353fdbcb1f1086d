import { classifySmtpReply, retryHintSeconds } from './classify-smtp-reply';
import type { SmtpPhase } from './smtp-phase';

function classify(phase: SmtpPhase, code: number, text = '', enhanced: string | null = null) {
  return classifySmtpReply(phase, { code, enhanced, text });
}

describe('classification of SMTP replies', () => {
  it.each<[SmtpPhase, number, string, string]>([
    ['final_dot', 250, 'Ok', 'accepted'],
    ['rcpt', 251, 'User not local, will forward', 'accepted'],
    ['greeting', 421, 'Too many connections', 'deferred'],
    ['rcpt', 450, 'Mailbox busy', 'deferred'],
    ['rcpt', 550, 'No such user', 'rejected'],
    ['final_dot', 554, 'Spam', 'rejected'],
    ['greeting', 554, 'No SMTP service here', 'rejected'],
    ['greeting', 521, 'Does not accept mail', 'deferred'],
    ['mail', 521, 'Does not accept mail', 'rejected'],
    ['greeting', 503, 'Not now', 'deferred'],
    ['rcpt', 503, 'Need MAIL first', 'deferred'],
    ['ehlo', 550, 'I do not like your name', 'deferred'],
    ['auth', 535, 'Bad credentials', 'deferred'],
    ['mail', 530, 'Authentication required', 'deferred'],
    ['rcpt', 550, 'Greylisted, please come back', 'deferred'],
    ['rcpt', 554, 'Gray-listing in action', 'deferred'],
    ['mail', 550, 'Sending rate limit exceeded', 'deferred'],
    ['mail', 554, 'You are sending too fast', 'deferred'],
    ['greeting', 554, 'Too many connections from your host', 'deferred'],
    ['rcpt', 550, 'Check the address and try again', 'rejected'],
    ['rcpt', 550, 'Temporarily disabled', 'deferred'],
    ['rcpt', 552, 'Too many recipients', 'deferred'],
    ['rcpt', 552, 'Mailbox full', 'rejected'],
    ['final_dot', 552, 'Message size exceeds the limit', 'rejected'],
  ])('in phase %s, %i "%s" means %s', (phase, code, text, outcome) => {
    expect(classify(phase, code, text).outcome).toBe(outcome);
  });

  it('takes 552 with a quota code at RCPT as permanent', () => {
    expect(classify('rcpt', 552, 'No', '5.2.2').outcome).toBe('rejected');
  });

  it('hands over what the server asks for', () => {
    expect(classify('mail', 450, 'try again in 120 seconds')).toEqual({
      outcome: 'deferred',
      retryAfterSeconds: 120,
    });
  });

  it.each([
    ['Try again in 120 seconds', 120],
    ['Greylisted, retry in 5 minutes', 300],
    ['please wait 1 hour', 3600],
    ['wait 5 min', 300],
    ['come back after 00:04:30', 270],
    ['Greylisted for 300 seconds', 300],
    ['retry-after: 60s', 60],
    ['in 30s', 30],
    ['You sent 500 messages', null],
    ['within policy 5.7.1', null],
    ['Try again later', null],
    ['for 3 months', null],
  ])('reads the wait in "%s" as %p', (text, seconds) => {
    expect(retryHintSeconds(text)).toBe(seconds);
  });
});
