import { startInSteps } from './start-in-steps';

describe('startInSteps', () => {
  it('undoes the steps from the last to the first, whatever fails on the way', async () => {
    const undone: string[] = [];
    const running = await startInSteps(async (onStop) => {
      onStop(() => undone.push('database'));
      onStop(() => Promise.reject(new Error('the log is gone')));
      onStop(() => undone.push('listener'));
    });
    await expect(running.stop()).rejects.toThrow('the log is gone');
    expect(undone).toEqual(['listener', 'database']);
    await running.stop();
    expect(undone).toHaveLength(2);
  });

  it('undoes what a failed start had done, and says why it failed', async () => {
    const undone: string[] = [];
    const start = startInSteps(async (onStop) => {
      onStop(() => undone.push('database'));
      throw new Error('the port is taken');
    });
    await expect(start).rejects.toThrow('the port is taken');
    expect(undone).toEqual(['database']);
  });
});
