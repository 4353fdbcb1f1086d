import { AnswerLimit, NoAnswerError } from './answer-limit';

const never = <T>() => new Promise<T>(() => undefined);

describe('AnswerLimit', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('passes on answers and errors that come in time', async () => {
    const limit = new AnswerLimit(200);
    await expect(limit.put(Promise.resolve(1))).resolves.toBe(1);
    await expect(limit.put(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });

  it('fails each answer that is late when its own time has passed', async () => {
    const limit = new AnswerLimit(200);
    const ended: string[] = [];
    const watch = (name: string, answer: Promise<unknown>) =>
      answer.catch((error: unknown) => {
        expect(error).toBeInstanceOf(NoAnswerError);
        ended.push(name);
      });
    void watch('first', limit.put(never()));
    await jest.advanceTimersByTimeAsync(150);
    void watch('second', limit.put(never()));
    await limit.put(Promise.resolve());
    await jest.advanceTimersByTimeAsync(49);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(['first']);
    await jest.advanceTimersByTimeAsync(149);
    expect(ended).toEqual(['first']);
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(['first', 'second']);
  });

  it('has one timer for all that wait, and none once it is closed', async () => {
    const limit = new AnswerLimit(200);
    for (let i = 0; i < 5; i += 1) void limit.put(never());
    expect(jest.getTimerCount()).toBe(1);
    limit.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});
