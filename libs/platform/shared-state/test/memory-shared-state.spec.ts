import { MemorySharedState } from '../src/memory-shared-state';
import { describeSharedState } from './shared-state.contract';

describe('MemorySharedState', () => {
  describeSharedState(async () => {
    const state = new MemorySharedState();
    return [state, state];
  });

  it('sweeps what expired', async () => {
    let now = 1_000;
    const state = new MemorySharedState({ clock: () => now });
    await state.set('a', '1', 10);
    await state.consume('b', 1, 10);
    await state.set('c', '1', 1_000);
    now += 11;
    state.sweep();
    expect(state.size).toBe(1);
    await state.close();
  });

  it('keeps at most maxEntries, the latest ones', async () => {
    const state = new MemorySharedState({ maxEntries: 3 });
    for (const key of ['a', 'b', 'c', 'd']) await state.set(key, key, 60_000);
    expect(state.size).toBe(3);
    expect(await state.get('a')).toBeNull();
    expect(await state.get('d')).toBe('d');
    await state.close();
  });
});
