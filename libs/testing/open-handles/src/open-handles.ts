import { setTimeout as delay } from 'node:timers/promises';

/** Others, such as timers and sockets, end by themselves sooner or later. */
const LASTING: ReadonlySet<string> = new Set(['ProcessWrap', 'TCPServerWrap']);

/** Servers and children that keep the process alive, by kind. */
export function openHandles(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => LASTING.has(kind));
}

/** What was opened since `before` and is not closed within `graceMs`. */
export async function leftOpen(before: readonly string[], graceMs: number): Promise<string[]> {
  const deadline = performance.now() + graceMs;
  for (;;) {
    const left = without(openHandles(), before);
    if (left.length === 0 || performance.now() > deadline) return left;
    await delay(20);
  }
}

function without(handles: readonly string[], before: readonly string[]): string[] {
  const known = [...before];
  return handles.filter((handle) => {
    const index = known.indexOf(handle);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}
