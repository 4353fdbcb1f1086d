import { WorkAfterAnswers } from './work-after-answers';

describe('work after answers', () => {
  it('begins in a later turn, and is waited for', async () => {
    const after = new WorkAfterAnswers(() => undefined);
    const done: string[] = [];
    after.add(async () => void done.push('one'));
    await Promise.resolve();
    expect(done).toEqual([]);
    await after.flush();
    expect(done).toEqual(['one']);
  });

  it('reports what fails, and goes on', async () => {
    const errors: unknown[] = [];
    const after = new WorkAfterAnswers((error) => errors.push(error));
    const done = jest.fn();
    after.add(() => Promise.reject(new Error('no database')));
    after.add(async () => done());
    await after.flush();
    expect(errors).toEqual([expect.objectContaining({ message: 'no database' })]);
    expect(done).toHaveBeenCalled();
  });

  it('refuses more than a thousand pieces at once, and takes more once they are done', async () => {
    const errors: unknown[] = [];
    const after = new WorkAfterAnswers((error) => errors.push(error));
    let done = 0;
    for (let n = 0; n < 1_001; n += 1) after.add(async () => void (done += 1));
    expect(errors).toHaveLength(1);
    await after.flush();
    after.add(async () => void (done += 1));
    await after.flush();
    expect([done, errors.length]).toEqual([1_001, 1]);
  });
});
