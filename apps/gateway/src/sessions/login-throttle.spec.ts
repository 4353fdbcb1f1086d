import { MemorySharedState, type SharedState } from '@dak/platform/shared-state';
import { LoginThrottle } from './login-throttle';

const ANN = 'ann@x.example';

describe('failed logins', () => {
  let state: SharedState;
  let refusals: number;
  let throttle: LoginThrottle;

  beforeEach(() => {
    state = new MemorySharedState();
    refusals = 0;
    throttle = new LoginThrottle(state, 3, () => (refusals += 1));
  });
  afterEach(() => state.close());

  const fail = (email: string, address: string) =>
    throttle.attempt(email, address, async () => false);

  it('are counted by account and client network, before the password is looked at', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => fail(ANN, `2001:db8::${n}`)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(refusals).toBe(7);
    await expect(fail(ANN, '2001:db8:0:1::1')).resolves.toBe(false);
    await expect(fail('bob@x.example', '2001:db8::1')).resolves.toBe(false);
  });

  it('refuse the right password too, and say how long', async () => {
    for (let n = 0; n < 3; n += 1) await fail(ANN, '192.0.2.1');
    const look = jest.fn();
    await expect(throttle.attempt(ANN, '192.0.2.1', look)).rejects.toMatchObject({
      kind: 'rate_limited',
      code: 'login_throttled',
      retryAfterSeconds: 300,
    });
    expect(look).not.toHaveBeenCalled();
  });

  it('are none when the password was right or could not be looked at', async () => {
    for (let n = 0; n < 5; n += 1) {
      await throttle.attempt(ANN, '192.0.2.1', async () => true);
      await throttle.giveBack(ANN, '192.0.2.1');
      const busy = () => Promise.reject(new Error('too many passwords'));
      await expect(throttle.attempt(ANN, '192.0.2.1', busy)).rejects.toThrow('too many');
    }
    expect(refusals).toBe(0);
  });
});
