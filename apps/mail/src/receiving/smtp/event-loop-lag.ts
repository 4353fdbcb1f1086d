/** How late timers fire at present. */
export interface EventLoopLag {
  /** Milliseconds, smoothed over about half a second. */
  milliseconds(): number;
  stop(): void;
}

const INTERVAL_MS = 100;

/** Measures until stopped; does not keep the process alive. */
export function watchEventLoopLag(): EventLoopLag {
  let smoothed = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const lag = Math.max(0, now - last - INTERVAL_MS);
    last = now;
    // Rises at once, falls slowly: one free turn does not mean that the queue is gone.
    smoothed = lag > smoothed ? lag : smoothed * 0.8 + lag * 0.2;
  }, INTERVAL_MS);
  timer.unref();
  return {
    // A loop that is stuck right now has not fired the timer yet.
    milliseconds: () => Math.max(smoothed, performance.now() - last - INTERVAL_MS),
    stop: () => clearInterval(timer),
  };
}
