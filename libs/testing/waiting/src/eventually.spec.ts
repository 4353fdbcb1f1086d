import { eventually } from './eventually';

describe('eventually', () => {
  it('returns the first answer that is truthy', async () => {
    const answers = [null, undefined, false, 0, '', 'there', 'later'];
    expect(await eventually(() => answers.shift())).toBe('there');
    expect(answers).toEqual(['later']);
  });

  it('asks again after an error', async () => {
    let asked = 0;
    await eventually(() => {
      asked += 1;
      expect(asked).toBe(3);
      return true;
    });
  });

  it('throws at its deadline and shows what it asked', async () => {
    const rows: string[] = [];
    await expect(eventually(() => rows.length === 1, 20)).rejects.toThrow(
      /^Not within 20 ms: .*rows\.length === 1/s,
    );
  });

  it('names what it waited for, and the last error', async () => {
    const cause = new Error('connection refused');
    const fail = () => Promise.reject(cause);
    await expect(eventually('a reply', fail, 20)).rejects.toMatchObject({
      message: 'Not within 20 ms: a reply\nThe last error: connection refused',
      cause,
    });
    const clues = () => Promise.resolve('a reply; got none');
    await expect(eventually(clues, () => false, 20)).rejects.toThrow('a reply; got none');
  });

  it('forgets an error that is over', async () => {
    const asks = [() => Promise.reject(new Error('over')), () => Promise.resolve(false)];
    const ask = () => (asks.length > 1 ? asks.shift()! : asks[0]!)();
    await expect(eventually('a reply', ask, 20)).rejects.toMatchObject({ cause: undefined });
  });
});
