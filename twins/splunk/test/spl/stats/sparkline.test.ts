import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

describe("sparkline", () => {
  let bench: SplBench;
  beforeAll(async () => {
    bench = await splBench();
  });
  afterAll(() => bench.close());

  test("rule 43: sparkline is a list of the parts of the time, for each group", async () => {
    const noon = Date.UTC(2026, 0, 15, 12) / 1000;
    const rows = [
      { _time: noon + 10, host: "a", n: 5 },
      { _time: noon + 70, host: "a", n: 7 },
      { _time: noon + 80, host: "a", n: 9 },
      { _time: noon + 200, host: "b", n: 1 },
    ];
    const { rows: all } = await bench.searchRows(
      rows,
      "stats sparkline(count, 1m) AS counts sparkline(avg(n), 1m) AS means sparkline(count(eval(n>5)), 1m) AS large by host",
    );
    const line = (...parts: string[]) => ["##__SPARKLINE__##", ...parts];
    expect(all).toEqual([
      {
        host: "a",
        counts: line("1", "2", "0", "0"),
        means: line("5", "8", "0", "0"),
        large: line("0", "2", "0", "0"),
      },
      {
        host: "b",
        counts: line("0", "0", "0", "1"),
        means: line("0", "0", "0", "1"),
        large: line("0", "0", "0", "0"),
      },
    ]);
    const { rows: bare } = await bench.searchRows(rows, "stats sparkline");
    // Three minutes in slots of five seconds: the smallest usual span with at most a hundred slots.
    expect(bare[0]?.sparkline).toHaveLength(1 + 39);
  });

  test.each(["eventstats", "streamstats"])("rule 43: %s has no sparkline", async (command) => {
    expect(await bench.refusal(`| makeresults | ${command} sparkline(count)`)).toBe(
      `Error in '${command}' command: The argument 'sparkline(count)' is invalid.`,
    );
  });
});
