import { DomainError, ERROR_KINDS, InvalidError, UnavailableError } from '@dak/kernel';
import {
  MethodNotAllowedError,
  RequestTimeoutError,
  toErrorReply,
  toProblem,
} from './error-status';

describe('the reply to an error', () => {
  it('shows the sentence and code of ours, and of nothing else', () => {
    expect(toErrorReply(new InvalidError('name is missing.'))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      sentence: 'name is missing.',
    });
    for (const thrown of [new TypeError('secret internals'), 'secret internals', undefined, null]) {
      const reply = toErrorReply(thrown);
      expect(reply).toMatchObject({ status: 500, code: 'internal', headers: [] });
      expect(reply.sentence).not.toContain('secret');
    }
  });

  it.each([
    [new UnavailableError('Later.', 0.2), '1'],
    [new UnavailableError('Later.', 6.1), '7'],
    [new DomainError('rate_limited', 'rate_limited', 'Wait.'), '1'],
    [new DomainError('deadline_exceeded', 'deadline_exceeded', 'Late.'), '1'],
  ])('says when to come back: %p', (error, seconds) => {
    expect(toErrorReply(error).headers).toContainEqual(['Retry-After', seconds]);
  });

  it('asks for credentials, names what is allowed, and closes a line that was too slow', () => {
    const refused = new DomainError('unauthenticated', 'missing_credentials', 'Sign in.');
    expect(toErrorReply(refused).headers).toEqual([['WWW-Authenticate', 'Bearer realm="dak"']]);
    expect(toErrorReply(new MethodNotAllowedError('PUT', 'GET, POST'))).toMatchObject({
      status: 405,
      headers: [['Allow', 'GET, POST']],
    });
    expect(toErrorReply(new RequestTimeoutError())).toMatchObject({
      status: 408,
      headers: [['Connection', 'close']],
    });
  });

  it.each(ERROR_KINDS)('has a title as a problem: %s', (kind) => {
    const reply = toErrorReply(new DomainError(...([kind, 'conflict', 'A sentence.'] as never)));
    expect(toProblem(reply, 'r1')).toMatchObject({
      type: 'about:blank',
      title: expect.not.stringMatching(/^Error$/),
      status: reply.status,
      detail: 'A sentence.',
      instance: 'urn:request:r1',
      code: 'conflict',
    });
  });
});
