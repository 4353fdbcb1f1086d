import { MemorySharedState } from '@dak/platform/shared-state';
import { createSendQuota } from './send-quota';

describe('the send quota', () => {
  const sharedState = new MemorySharedState();
  afterAll(() => sharedState.close());

  it('refuses a mailbox that has sent its mails of the hour, and no other', async () => {
    const take = createSendQuota(sharedState, { sends_per_hour: 2, sends_per_day: 100 });
    await take('one');
    await take('one');
    await expect(take('one')).rejects.toMatchObject({
      kind: 'rate_limited',
      code: 'send_limit',
      message: expect.stringContaining('2 mails of this hour') as string,
    });
    await take('two');
  });

  it('says after how many seconds of a day there is room again', async () => {
    const take = createSendQuota(sharedState, { sends_per_hour: 100, sends_per_day: 1 });
    await take('three');
    const error = await take('three').catch((reason: unknown) => reason);
    const { retryAfterSeconds } = error as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeGreaterThan(86_000);
    expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
  });
});
