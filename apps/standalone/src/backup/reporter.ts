const TELL_EVERY_MS = 2_000;

/** Reports progress from time to time, and the totals at the end. */
export function reporter(
  what: string,
  progress: (sentence: string) => void,
): { add: (bytes: number) => void; end: () => void } {
  let done = 0;
  let count = 0;
  let told = performance.now();
  const tell = (): void => {
    told = performance.now();
    progress(`${what}${count} files, ${(done / 1e6).toFixed(1)} MB`);
  };
  return {
    add: (bytes) => {
      done += bytes;
      count += 1;
      if (performance.now() - told > TELL_EVERY_MS) tell();
    },
    end: tell,
  };
}
