/** Milliseconds since the epoch. Pure code takes the time as an argument; operations take a clock. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
