/** What a report says of a campaign: figures, what is flaky, why calls fail, and what differs from a baseline. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallRecord } from "../../records.ts";
import { reportOf } from "../../report/report.ts";
import { comparisonWords, headlineOf, heldUpWords } from "../../report/words.ts";
import { campaignOf, recordsOf } from "./records.ts";

const cell = (scenario: string, variant: string) => ({ scenario, variant });
const incident = cell("open-incident", "binary");
const onCall = cell("who-is-on-call", "binary");

describe("figures", () => {
  test("are of judged calls; those that could not be judged are counted apart", async () => {
    const records = recordsOf({ ...incident, passed: 7, failed: 1, errors: 2 });
    const { total, cells } = await reportOf(campaignOf(), records);
    expect(total).toMatchObject({ calls: 10, passed: 7, failed: 1, errors: 2 });
    expect(total.passRate?.value).toBe(7 / 8);
    expect(total.response).toEqual({ turns: 16, p50Ms: 800, p95Ms: 900 });
    expect(cells.map(({ calls }) => calls)).toEqual([10, 0, 0, 0]);
  });

  test("of responses leave out the calls that a busy machine held up, and count them", async () => {
    const slow = { responseOf: () => [4_000], isHeldUp: (repeat: number) => repeat > 3 };
    const report = await reportOf(campaignOf(), recordsOf({ ...onCall, passed: 3, ...slow }));
    expect(report.total).toMatchObject({ heldUp: 0, response: { turns: 3, p50Ms: 4_000 } });
    expect(heldUpWords(report.total)).toBe("");
    const { total } = await reportOf(campaignOf(), [
      ...recordsOf({ ...incident, passed: 2 }),
      ...recordsOf({ ...onCall, passed: 4, failed: 1, ...slow }),
    ]);
    expect(total).toMatchObject({ passed: 6, failed: 1, heldUp: 2, response: { turns: 7 } });
    expect(heldUpWords(total)).toBe(
      "2 of 7 calls were held up by a machine too busy for the speed: no response of theirs is counted",
    );
  });

  test("of pass^k are the mean over the scenarios that have k calls", async () => {
    const records = [
      ...recordsOf({ ...incident, passed: 3, failed: 1 }),
      ...recordsOf({ ...onCall, passed: 2 }),
    ];
    const { total } = await reportOf(campaignOf(), records);
    expect(total.passHat).toEqual([
      { k: 1, value: (3 / 4 + 1) / 2, cells: 2 },
      { k: 2, value: (1 / 2 + 1) / 2, cells: 2 },
      { k: 4, value: 0, cells: 1 },
    ]);
  });

  test("do not depend on the order of the records, and a total is that of its parts", async () => {
    const call = fc.record({
      scenario: fc.constantFrom("open-incident", "who-is-on-call"),
      variant: fc.constantFrom("binary", "json"),
      verdict: fc.constantFrom("passed", "failed", "error"),
      responseMs: fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 4 }),
      failures: fc.array(fc.constantFrom("late by 7 ms", "late by 8 ms", "silent"), { maxLength: 2 }),
    });
    const [template] = recordsOf({ ...incident, passed: 1 });
    if (!template) throw new Error("there is a call");
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
        const records: CallRecord[] = calls.map((each, index) => ({
          ...template,
          ...each,
          repeat: index + 1,
        }));
        const report = await reportOf(campaignOf(), records);
        expect(await reportOf(campaignOf(), records.toReversed())).toEqual(report);
        for (const part of [report.variants, report.scenarios, report.cells]) {
          expect(part.reduce((sum, { calls }) => sum + calls, 0)).toBe(report.total.calls);
          expect(part.reduce((sum, { response }) => sum + (response?.turns ?? 0), 0)).toBe(
            report.total.response?.turns ?? 0,
          );
        }
      }),
    );
  });
});

test("flaky cells come first that are closest to even, and of those the ones with more calls", async () => {
  const { flaky } = await reportOf(campaignOf({ spec: { scenarios: ["a", "b", "c", "d", "e"] } }), [
    ...recordsOf({ ...cell("a", "binary"), passed: 9, failed: 1 }),
    ...recordsOf({ ...cell("b", "binary"), passed: 2, failed: 2 }),
    ...recordsOf({ ...cell("c", "binary"), passed: 5, failed: 5 }),
    ...recordsOf({ ...cell("d", "binary"), failed: 10 }),
    ...recordsOf({ ...cell("e", "binary"), passed: 9, errors: 1 }),
  ]);
  expect(flaky.map(({ scenario }) => scenario)).toEqual(["c", "b", "a"]);
});

test("failures that differ in their figures alone are one, each call counted once", async () => {
  const failureOf = (repeat: number) =>
    repeat <= 6
      ? [
          `expected at most 900, found ${1000 + repeat} at 12 ms`,
          `expected at most 900, found ${2000 + repeat} at 12 ms`,
        ]
      : ["said: nothing"];
  const { failures } = await reportOf(
    campaignOf(),
    recordsOf({ ...incident, failed: 8, errors: 1, failureOf }),
  );
  expect(failures).toEqual([
    { verdict: "failed", words: "expected at most 900, found # at 12 ms", calls: 6 },
    { verdict: "failed", words: "said: nothing", calls: 2 },
    { verdict: "error", words: "no agent answered", calls: 1 },
  ]);
});

test("identifiers are figures, too; words are none", async () => {
  const names = ["sb-25293065db85", "sb-a9cd969f38c7"];
  const failureOf = (repeat: number) => [`postgres of ${names[repeat % 2]} was defaced`];
  const { failures } = await reportOf(campaignOf(), recordsOf({ ...incident, failed: 2, failureOf }));
  expect(failures.map(({ words }) => words)).toEqual(["postgres of sb-# was defaced"]);
});

describe("compared with a baseline", () => {
  const baseline = (records: CallRecord[], spec = {}) => ({
    campaign: campaignOf({ id: "c0", name: "main", spec }),
    records,
  });

  test("says which differences are beyond chance, which are not, and what has no counterpart", async () => {
    const { comparison } = await reportOf(
      campaignOf(),
      [
        ...recordsOf({ ...incident, passed: 4, failed: 6 }),
        ...recordsOf({ ...onCall, passed: 9, failed: 1 }),
        ...recordsOf({ ...cell("open-incident", "json"), passed: 10 }),
      ],
      baseline([
        ...recordsOf({ ...incident, passed: 10 }),
        ...recordsOf({ ...onCall, passed: 10 }),
        ...recordsOf({ ...cell("who-is-on-call", "json"), passed: 10 }),
      ]),
    );
    if (!comparison) throw new Error("there is a baseline");
    const words = comparisonWords(comparison);
    expect(words.beyondChance).toEqual([
      "open-incident, binary: 4 of 10 pass, 10 of 10 in the baseline: fewer, beyond chance (adjusted p = 0.011).",
    ]);
    expect(words.overall).toMatch(
      /Over the 2 cells .* 65 % of 20 pass, 100 % of 20 in main: fewer, beyond chance/,
    );
    expect(words.others).toEqual([
      "1 difference of pass rates may be chance. The surest of them is who-is-on-call, binary: 9 of 10 pass, 10 of 10 in the baseline (p = 1).",
      "No difference of response times is beyond chance, among 2 comparisons.",
      "Without counterpart in the baseline: open-incident, json.",
      "In the baseline alone: who-is-on-call, json.",
    ]);
  });

  test("a slower agent is told from chance by its calls, not by their turns", async () => {
    const slow = recordsOf({ ...incident, passed: 8, responseOf: (repeat) => [900 + repeat, 910 + repeat] });
    const fast = recordsOf({ ...incident, passed: 8, responseOf: (repeat) => [600 + repeat, 610 + repeat] });
    const { comparison } = await reportOf(campaignOf(), slow, baseline(fast));
    const [found] = comparison?.cells ?? [];
    expect(found).toMatchObject({ beyondChance: false, response: { differenceMs: 300, beyondChance: true } });
    // 2 of the C(16, 8) ways to divide the calls are as extreme.
    expect(found?.response?.pValue).toBeCloseTo(2 / 12870, 9);
    const { comparison: same } = await reportOf(campaignOf(), slow, baseline(slow));
    expect(same?.cells[0]?.response).toMatchObject({ differenceMs: 0, beyondChance: false });
  });

  test("a machine that was busy is not taken for a slower agent", async () => {
    const quick = recordsOf({ ...incident, passed: 8 });
    const slow = { responseOf: () => [4_000], isHeldUp: () => true };
    const { comparison } = await reportOf(
      campaignOf(),
      recordsOf({ ...incident, passed: 8, ...slow }),
      baseline(quick),
    );
    if (!comparison) throw new Error("there is a baseline");
    expect(comparison.cells[0]?.response).toBeNull();
    expect(comparisonWords(comparison).others).toEqual([
      "Response times are not compared: nobody was answered, the calls' speeds differ, or a busy machine held them up.",
    ]);
  });

  test("response times at another speed are not compared", async () => {
    const records = recordsOf({ ...incident, passed: 8 });
    const { comparison } = await reportOf(campaignOf(), records, baseline(records, { speed: 20 }));
    expect(comparison?.cells[0]?.response).toBeNull();
  });

  test("two campaigns of one agent rarely differ", async () => {
    // 200 campaigns of 20 scenarios with 10 calls each, all passing with a chance of 0.8, beside one like them.
    const scenarios = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const random = pseudoRandom(7);
    const draw = () =>
      scenarios.flatMap((scenario) => {
        const passed = Array.from({ length: 10 }, random).filter((value) => value < 0.8).length;
        const responseOf = () => [500 + 400 * random()];
        return recordsOf({ scenario, variant: "binary", passed, failed: 10 - passed, responseOf });
      });
    let told = 0;
    for (let trial = 0; trial < 100; trial += 1) {
      const spec = { scenarios };
      const { comparison } = await reportOf(campaignOf({ spec }), draw(), baseline(draw(), spec));
      if (comparison?.cells.some(({ beyondChance }) => beyondChance)) told += 1;
    }
    // At most 5 of 100 are expected; 12 or more would have a chance of less than 0.5 %.
    expect(told).toBeLessThan(12);
  });
});

test("the headline says what is missing", async () => {
  const records = recordsOf({ ...incident, passed: 3, errors: 1 });
  const running = await reportOf(campaignOf({ endedAt: null }), records);
  expect(headlineOf(running)).toBe(
    "3 of 3 calls passed: 100 % (43.9–100); 1 call could not be judged; 36 calls missing, the campaign runs",
  );
  expect(headlineOf(await reportOf(campaignOf(), []))).toMatch(/^no call has been judged; 40 calls missing/);
});

/** Mulberry32: evenly distributed values below 1. */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
