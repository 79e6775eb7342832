/** The statistics of campaign reports: intervals, exact tests, rank tests and their correction for many comparisons. */

/** The 97.5 % quantile of the normal distribution: of two-sided 95 % intervals. */
const Z_95 = 1.959963984540054;

/** A proportion with its two-sided 95 % interval. */
export interface Proportion {
  value: number;
  low: number;
  high: number;
}

/**
 * The proportion of successes with its Wilson score interval (Brown, Cai & DasGupta 2001, Statistical Science 16:101).
 * @returns `null` without trials
 */
export function proportionOf(successes: number, trials: number): Proportion | null {
  if (trials === 0) return null;
  const value = successes / trials;
  const z2 = Z_95 ** 2;
  const centre = (successes + z2 / 2) / (trials + z2);
  const half = (Z_95 / (trials + z2)) * Math.sqrt(trials * value * (1 - value) + z2 / 4);
  // Exact at the ends, where rounding would leave 1e-17.
  const low = successes === 0 ? 0 : centre - half;
  const high = successes === trials ? 1 : centre + half;
  return { value, low, high };
}

/**
 * pass^k: the chance that k calls of a task all pass, estimated without bias by C(passed, k) / C(trials, k) (tau-bench,
 * Yao et al. 2024, arXiv:2406.12045).
 * @returns `null` with fewer than k trials
 */
export function passHat(passed: number, trials: number, k: number): number | null {
  if (trials < k) return null;
  let value = 1;
  for (let i = 0; i < k; i += 1) value *= Math.max(0, passed - i) / (trials - i);
  return value;
}

/** The value at a quantile between 0 and 1 of ascending values: the smallest that a share of `q` does not exceed. */
export function quantileOf(ascending: ArrayLike<number>, q: number): number | null {
  return ascending[Math.max(0, Math.ceil(q * ascending.length) - 1)] ?? null;
}

/** The result of a test for a difference. */
export interface TestResult {
  /** Two-sided: the chance of a difference at least as large when there is none. */
  pValue: number;
  /** A lower bound of the p-values that the margins allow at all: the test cannot find more than that. */
  leastPValue: number;
}

/** Successes among trials, in each of two samples. */
export interface Counts {
  passed: number;
  trials: number;
  otherPassed: number;
  otherTrials: number;
}

/** Probabilities that differ by less are equal: rounding must not decide whether an outcome is as extreme. As in R. */
const RELATIVE_ERROR = 1 + 1e-7;

/**
 * Fisher's exact test for two proportions, two-sided as in R's `fisher.test`: over the outcomes that are at most as
 * probable as the observed one. Exact for any number of calls, never too bold, and needs no assumption about the rates.
 */
export function fisherTest({ passed, trials, otherPassed, otherTrials }: Counts): TestResult {
  const allPassed = passed + otherPassed;
  const least = Math.max(0, allPassed - otherTrials);
  const most = Math.min(allPassed, trials);
  // Weights relative to the mode, so that nothing overflows: successive hypergeometric probabilities have a simple ratio.
  const mode = Math.floor(((allPassed + 1) * (trials + 1)) / (trials + otherTrials + 2));
  const start = Math.min(most, Math.max(least, mode));
  const weights = new Float64Array(most - least + 1);
  weights[start - least] = 1;
  for (let x = start; x < most; x += 1) {
    const ratio = ((trials - x) * (allPassed - x)) / ((x + 1) * (otherTrials - allPassed + x + 1));
    weights[x + 1 - least] = (weights[x - least] ?? 0) * ratio;
  }
  for (let x = start; x > least; x -= 1) {
    const ratio = (x * (otherTrials - allPassed + x)) / ((trials - x + 1) * (allPassed - x + 1));
    weights[x - 1 - least] = (weights[x - least] ?? 0) * ratio;
  }
  const tail = (limit: number) => {
    let [sum, all] = [0, 0];
    for (const weight of weights) {
      all += weight;
      if (weight <= limit * RELATIVE_ERROR) sum += weight;
    }
    return sum / all;
  };
  const ends = Math.min(weights[0] ?? 1, weights[weights.length - 1] ?? 1);
  return { pValue: tail(weights[passed - least] ?? 0), leastPValue: tail(ends) };
}

/**
 * The Mantel–Haenszel test of a difference that all strata share, with continuity correction as in R's `mantelhaen.test`:
 * whether calls pass more or less often across scenarios whose rates differ.
 * @returns the two-sided p-value; 1 when nothing could differ
 */
export function mantelHaenszelTest(strata: readonly Counts[]): number {
  let [difference, variance] = [0, 0];
  for (const { passed, trials, otherPassed, otherTrials } of strata) {
    const all = trials + otherTrials;
    if (trials === 0 || otherTrials === 0) continue;
    const allPassed = passed + otherPassed;
    difference += passed - (trials * allPassed) / all;
    variance += (trials * otherTrials * allPassed * (all - allPassed)) / (all ** 2 * (all - 1));
  }
  if (variance === 0) return 1;
  const correction = Math.abs(difference) >= 0.5 ? 0.5 : 0;
  return twoSidedP((Math.abs(difference) - correction) / Math.sqrt(variance));
}

/** Up to so many values the rank test counts all permutations. */
const MAX_EXACT_VALUES = 40;

/**
 * The Wilcoxon–Mann–Whitney rank-sum test, two-sided, with midranks for ties: exact over all permutations for few values
 * (Streitberg & Röhmel 1986), else by the normal approximation with corrections for ties and continuity, as in R.
 */
export function rankSumTest(values: readonly number[], others: readonly number[]): TestResult {
  const all = values.length + others.length;
  if (values.length === 0 || others.length === 0) return { pValue: 1, leastPValue: 1 };
  const { doubledRanks, tieTerm } = rank(values, others);
  const doubledSum = sumOf(doubledRanks.slice(0, values.length));
  const deviation = Math.abs(doubledSum - values.length * (all + 1));
  if (all <= MAX_EXACT_VALUES) {
    return permutationTest(doubledRanks, Math.min(values.length, others.length), deviation);
  }
  const variance = ((values.length * others.length) / 12) * (all + 1 - tieTerm / (all * (all - 1)));
  if (variance === 0) return { pValue: 1, leastPValue: 1 };
  const pValue = twoSidedP(Math.max(0, deviation / 2 - 0.5) / Math.sqrt(variance));
  return { pValue, leastPValue: 0 };
}

/** Twice the midranks of all values, those of the first sample first, and Σ(t³ − t) over the ties. */
function rank(values: readonly number[], others: readonly number[]) {
  const all = [...values, ...others];
  const order = all.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const doubledRanks = new Array<number>(all.length).fill(0);
  let tieTerm = 0;
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && order[to + 1]?.value === order[from]?.value) to += 1;
    for (const { index } of order.slice(from, to + 1)) doubledRanks[index] = from + to + 2;
    const tied = to - from + 1;
    tieTerm += tied ** 3 - tied;
    from = to + 1;
  }
  return { doubledRanks, tieTerm };
}

/** The share of all choices of `size` of the ranks whose sum deviates at least as much from its expectation. */
function permutationTest(doubledRanks: readonly number[], size: number, deviation: number): TestResult {
  const total = sumOf(doubledRanks);
  // counts[n][s]: choices of n ranks with the sum s, among the ranks so far.
  const counts = Array.from({ length: size + 1 }, () => new Float64Array(total + 1));
  const [empty] = counts;
  if (empty) empty[0] = 1;
  for (const own of doubledRanks) {
    for (let n = size; n >= 1; n -= 1) {
      const [to, from] = [counts[n], counts[n - 1]];
      if (!to || !from) continue;
      for (let sum = total; sum >= own; sum -= 1) to[sum] = (to[sum] ?? 0) + (from[sum - own] ?? 0);
    }
  }
  const expected = size * (doubledRanks.length + 1);
  let [extreme, all] = [0, 0];
  counts[size]?.forEach((count, sum) => {
    all += count;
    if (Math.abs(sum - expected) >= deviation) extreme += count;
  });
  return { pValue: extreme / all, leastPValue: 1 / all };
}

/**
 * Adjusts the p-values of many tests after Holm (1979), so that the chance of even one false finding stays below `level`
 * whatever the tests have in common. Tests that cannot find anything by their margins are left out first (Tarone 1990,
 * Biometrics 46:515): a hundred scenarios in which nothing ever fails do not hide the one that does.
 * @returns adjusted p-values in the order of the tests; 1 for those left out
 */
export function adjust(tests: readonly TestResult[], level: number): number[] {
  const ascendingLeast = tests.map(({ leastPValue }) => leastPValue).sort((a, b) => a - b);
  let family = 1;
  while ((ascendingLeast[family] ?? 1) <= level / family && family < tests.length) family += 1;
  const able = tests
    .map(({ pValue, leastPValue }, index) => ({ pValue, leastPValue, index }))
    .filter(({ leastPValue }) => leastPValue <= level / family)
    .sort((a, b) => a.pValue - b.pValue);
  const adjusted = tests.map(() => 1);
  let atLeast = 0;
  able.forEach(({ pValue, index }, before) => {
    atLeast = Math.max(atLeast, Math.min(1, pValue * (able.length - before)));
    adjusted[index] = atLeast;
  });
  return adjusted;
}

/** The chance that a normally distributed value is at least so many standard deviations from its mean. */
export function twoSidedP(deviations: number): number {
  return erfc(Math.abs(deviations) / Math.SQRT2);
}

const SERIES_BELOW = 3;
const FRACTION_TERMS = 60;

/** The complementary error function for x ≥ 0 (Abramowitz & Stegun 7.1.6 and 7.1.14). */
function erfc(x: number): number {
  if (x < SERIES_BELOW) {
    let [term, sum] = [x, x];
    for (let n = 1; term > sum * Number.EPSILON; n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = x;
  for (let n = FRACTION_TERMS; n >= 1; n -= 1) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / (fraction * Math.sqrt(Math.PI));
}

/** The sum of what is measured of each item. */
export function sumBy<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + measure(item), 0);
}

function sumOf(values: readonly number[]): number {
  return sumBy(values, (value) => value);
}
