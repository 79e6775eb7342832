/** The threshold of what a person on the telephone can hear. */

/** Samples at least this loud are audible (about -40 dBFS). */
const AUDIBLE_LEVEL = 330;

export function isAudible(sample: number): boolean {
  return Math.abs(sample) >= AUDIBLE_LEVEL;
}
