import { MemorySharedState, type SharedState } from '@dak/platform/shared-state';
import { IdentityVersions } from './identity-versions';

describe('the version of an organization’s identities', () => {
  let state: SharedState;
  let here: IdentityVersions;
  let there: IdentityVersions;

  beforeEach(() => {
    state = new MemorySharedState();
    here = new IdentityVersions(state);
    there = new IdentityVersions(state);
  });
  afterEach(() => state.close());

  it('is the same for every replica until a change, and its own for each organization', async () => {
    const [first, second] = await Promise.all([here.current('one'), there.current('one')]);
    expect(first).not.toBeNull();
    expect(second).toBe(first);
    const other = await here.current('other');
    await here.change('one', async () => undefined);
    expect(await there.current('one')).not.toBe(first);
    expect(await there.current('other')).toBe(other);
  });

  it('is none while a change is under way, and none that was there before when it fails', async () => {
    const before = await here.current('one');
    await expect(
      here.change('one', async () => {
        expect(await there.current('one')).toBeNull();
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await there.current('one')).not.toBe(before);
  });

  it('lets nobody remember anything while the store does not answer, and no change begin', async () => {
    const away = () => Promise.reject(new Error('no Redis'));
    const versions = new IdentityVersions({ get: away, set: away } as unknown as SharedState);
    const work = jest.fn();
    expect(await versions.current('one')).toBeNull();
    await expect(versions.change('one', work)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(work).not.toHaveBeenCalled();
  });

  it('stays none when the end of a change cannot be told', async () => {
    const set = state.set.bind(state);
    await here.change('one', async () => {
      state.set = () => Promise.reject(new Error('no Redis'));
    });
    state.set = set;
    expect(await there.current('one')).toBeNull();
  });
});
