/** Seeded pseudo-random numbers: mulberry32, whose one word of state is enough for faults and samples. */

/** @param seed 0 to 2³² − 1. @returns a generator of numbers in [0, 1) */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
