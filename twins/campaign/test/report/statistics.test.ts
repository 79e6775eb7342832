/** The statistics against published values, and against counting everything where that can be done. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  adjust,
  type Counts,
  fisherTest,
  mantelHaenszelTest,
  passHat,
  proportionOf,
  quantileOf,
  rankSumTest,
  twoSidedP,
} from "../../report/statistics.ts";

const counts = fc
  .tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 25 }))
  .chain(([trials, otherTrials]) =>
    fc.record({
      trials: fc.constant(trials),
      otherTrials: fc.constant(otherTrials),
      passed: fc.integer({ min: 0, max: trials }),
      otherPassed: fc.integer({ min: 0, max: otherTrials }),
    }),
  );

describe("Wilson intervals", () => {
  // Newcombe (1998), Statistics in Medicine 17:857, table I, method 3.
  test.for([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const)("of %i of %i as published", ([passed, trials, low, high]) => {
    const interval = proportionOf(passed, trials);
    expect(interval?.low).toBeCloseTo(low, 4);
    expect(interval?.high).toBeCloseTo(high, 4);
  });

  test("lie between 0 and 1, hold the rate, mirror, and shrink with calls", () => {
    fc.assert(
      fc.property(counts, ({ passed, trials }) => {
        const here = proportionOf(passed, trials);
        const mirrored = proportionOf(trials - passed, trials);
        const tenfold = proportionOf(10 * passed, 10 * trials);
        if (!here || !mirrored || !tenfold) throw new Error("there are trials");
        expect(here.low).toBeGreaterThanOrEqual(0);
        expect(here.high).toBeLessThanOrEqual(1);
        expect(here.low).toBeLessThanOrEqual(here.value);
        expect(here.high).toBeGreaterThanOrEqual(here.value);
        expect(mirrored.low).toBeCloseTo(1 - here.high, 12);
        expect(tenfold.high - tenfold.low).toBeLessThan(here.high - here.low);
      }),
    );
    expect(proportionOf(0, 0)).toBeNull();
  });
});

test("pass^k is the share of all choices of k calls in which all pass", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 9 }),
      (calls, k) => {
        const choices = choose(calls, k);
        const found = passHat(calls.filter(Boolean).length, calls.length, k);
        if (choices.length === 0) expect(found).toBeNull();
        else {
          const allPass = choices.filter((choice) => choice.every(Boolean)).length;
          expect(found).toBeCloseTo(allPass / choices.length, 12);
        }
      },
    ),
  );
});

test("a quantile is the smallest value that the share does not exceed", () => {
  expect(quantileOf([10, 20, 30, 40], 0.5)).toBe(20);
  expect(quantileOf([10, 20, 30, 40], 0.95)).toBe(40);
  expect(quantileOf([7], 0.5)).toBe(7);
  expect(quantileOf([], 0.5)).toBeNull();
});

test("normal tails have their tabulated values", () => {
  for (const [deviations, pValue] of [
    [0, 1],
    [1, 0.31731050786291415],
    [1.959963984540054, 0.05],
    [3, 0.0026997960632601866],
    [5, 5.733031437583866e-7],
    [8, 1.2441921148543568e-15],
  ] as const) {
    expect(twoSidedP(deviations) / pValue).toBeCloseTo(1, 9);
  }
});

describe("Fisher's exact test", () => {
  test.for([
    // The examples of R's fisher.test: Fisher's tea drinker, and his criminal twins.
    ["tea", { passed: 3, trials: 4, otherPassed: 1, otherTrials: 4 }, 0.4857143],
    ["twins", { passed: 2, trials: 17, otherPassed: 10, otherTrials: 13 }, 0.0005367],
    // The examples of scipy.stats.fisher_exact.
    ["whales", { passed: 8, trials: 10, otherPassed: 1, otherTrials: 6 }, 0.034965],
    ["lakes", { passed: 6, trials: 8, otherPassed: 1, otherTrials: 5 }, 0.1025641],
  ] as const)("finds the p-value of %s", ([, sample, pValue]) => {
    expect(fisherTest(sample).pValue).toBeCloseTo(pValue, 7);
  });

  test("equals the sum over all outcomes, and cannot find less than it says", () => {
    fc.assert(
      fc.property(counts, (sample) => {
        const { pValue, leastPValue } = fisherTest(sample);
        expect(pValue).toBeCloseTo(fisherByCounting(sample), 9);
        expect(pValue).toBeGreaterThanOrEqual(leastPValue);
      }),
    );
  });

  test("does not depend on which sample comes first, or on what is counted", () => {
    fc.assert(
      fc.property(counts, ({ passed, trials, otherPassed, otherTrials }) => {
        const { pValue } = fisherTest({ passed, trials, otherPassed, otherTrials });
        const swapped = {
          passed: otherPassed,
          trials: otherTrials,
          otherPassed: passed,
          otherTrials: trials,
        };
        const failures = {
          passed: trials - passed,
          trials,
          otherPassed: otherTrials - otherPassed,
          otherTrials,
        };
        expect(fisherTest(swapped).pValue).toBeCloseTo(pValue, 9);
        expect(fisherTest(failures).pValue).toBeCloseTo(pValue, 9);
      }),
    );
  });

  test("is as good with 100,000 calls", () => {
    const none = fisherTest({ passed: 99_000, trials: 100_000, otherPassed: 99_000, otherTrials: 100_000 });
    expect(none.pValue).toBeCloseTo(1, 6);
    const some = fisherTest({ passed: 99_000, trials: 100_000, otherPassed: 98_800, otherTrials: 100_000 });
    expect(some.pValue).toBeGreaterThan(1e-6);
    expect(some.pValue).toBeLessThan(1e-4);
  });
});

test("the Mantel–Haenszel test finds what R's mantelhaen.test finds in UCBAdmissions", () => {
  const departments = [
    [512, 825, 89, 108],
    [353, 560, 17, 25],
    [120, 325, 202, 593],
    [138, 417, 131, 375],
    [53, 191, 94, 393],
    [22, 373, 24, 341],
  ].map(([passed = 0, trials = 0, otherPassed = 0, otherTrials = 0]) => ({
    passed,
    trials,
    otherPassed,
    otherTrials,
  }));
  expect(mantelHaenszelTest(departments)).toBeCloseTo(0.2323, 4);
  expect(mantelHaenszelTest([{ passed: 5, trials: 5, otherPassed: 3, otherTrials: 3 }])).toBe(1);
});

describe("the rank-sum test", () => {
  test("finds what R's wilcox.test finds in few values", () => {
    // Hollander & Wolfe (1973), p. 69; R: W = 35, one-sided p = 0.1272.
    const atTerm = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const earlier = [1.15, 0.88, 0.9, 0.74, 1.21];
    expect(rankSumTest(atTerm, earlier).pValue).toBeCloseTo(2 * 0.1272, 4);
  });

  test("and in many, with ties", () => {
    // airquality, Ozone in May and in August; R: W = 127.5, p = 0.0001208.
    const may = [
      41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37,
    ];
    const august = [
      39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84,
      85,
    ];
    expect(rankSumTest(may, august).pValue).toBeCloseTo(0.0001208, 7);
  });

  const values = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 5 });

  test("equals counting all permutations of few values, with ties too", () => {
    fc.assert(
      fc.property(values, values, (some, others) => {
        expect(rankSumTest(some, others).pValue).toBeCloseTo(rankSumByCounting(some, others), 9);
      }),
    );
  });

  test("sees order alone, whichever sample comes first", () => {
    const many = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(many, many, (some, others) => {
        const { pValue } = rankSumTest(some, others);
        const cube = (value: number) => value ** 3;
        expect(rankSumTest(some.map(cube), others.map(cube)).pValue).toBeCloseTo(pValue, 9);
        expect(rankSumTest(others, some).pValue).toBeCloseTo(pValue, 9);
      }),
    );
  });
});

describe("the correction for many tests", () => {
  const tests = (...pValues: number[]) => pValues.map((pValue) => ({ pValue, leastPValue: 0 }));

  test("is Holm's, as R's p.adjust computes it", () => {
    const found = adjust(tests(0.01, 0.04, 0.03, 0.005), 0.05);
    for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) {
      expect(found[index]).toBeCloseTo(expected, 12);
    }
  });

  test("leaves out what cannot find anything: nothing that always passes hides what fails", () => {
    const silent = Array.from({ length: 99 }, () => ({ pValue: 1, leastPValue: 1 }));
    const [first, ...rest] = adjust([{ pValue: 0.02, leastPValue: 0.001 }, ...silent], 0.05);
    expect(first).toBeCloseTo(0.02, 12);
    expect(new Set(rest)).toEqual(new Set([1]));
  });

  test("never lowers a p-value, and keeps their order", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (pValues) => {
        const found = adjust(tests(...pValues), 0.05);
        const byValue = pValues.map((pValue, index) => ({ pValue, adjusted: found[index] ?? Number.NaN }));
        byValue.sort((a, b) => a.pValue - b.pValue || a.adjusted - b.adjusted);
        byValue.forEach(({ pValue, adjusted }, index) => {
          expect(adjusted).toBeGreaterThanOrEqual(Math.min(1, pValue));
          expect(adjusted).toBeGreaterThanOrEqual(byValue[index - 1]?.adjusted ?? 0);
        });
      }),
    );
  });
});

function choose<Value>(values: readonly Value[], k: number): Value[][] {
  if (k === 0) return [[]];
  return values.flatMap((value, index) =>
    choose(values.slice(index + 1), k - 1).map((rest) => [value, ...rest]),
  );
}

function binomial(n: number, k: number): bigint {
  let value = 1n;
  for (let i = 1; i <= k; i += 1) value = (value * BigInt(n - k + i)) / BigInt(i);
  return k < 0 || k > n ? 0n : value;
}

function fisherByCounting({ passed, trials, otherPassed, otherTrials }: Counts): number {
  const all = passed + otherPassed;
  const ways = (x: number) => binomial(trials, x) * binomial(otherTrials, all - x);
  let [extreme, total] = [0n, 0n];
  for (let x = 0; x <= all; x += 1) {
    total += ways(x);
    if (ways(x) <= ways(passed)) extreme += ways(x);
  }
  return Number(extreme) / Number(total);
}

function rankSumByCounting(some: readonly number[], others: readonly number[]): number {
  const all = [...some, ...others];
  const rankOf = (value: number) =>
    all.filter((each) => each < value).length + (all.filter((each) => each === value).length + 1) / 2;
  const ranks = all.map(rankOf);
  const sum = (values: readonly number[]) => values.reduce((before, value) => before + value, 0);
  const deviation = (chosen: readonly number[]) =>
    Math.abs(sum(chosen) - (some.length * (all.length + 1)) / 2);
  const choices = choose(ranks, some.length);
  return (
    choices.filter((choice) => deviation(choice) >= deviation(ranks.slice(0, some.length))).length /
    choices.length
  );
}
