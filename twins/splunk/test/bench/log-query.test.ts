import { describe, expect, it } from "vitest";
import { bench } from "../../bench/bench.ts";
import { splDifference, splQuestions } from "../../bench/questions.ts";

describe("bench log-query", () => {
  it("measures every question beside SQL by hand, and the collector with one client and with eight", async () => {
    const { figures, notes } = await bench({ size: "quick", progress: () => undefined });
    const names = figures.map(({ name }) => name);
    for (const { name } of splQuestions({ events: 1, traces: ["x"] })) {
      const missing = notes.filter((note) => note.startsWith(`${name} was not measured`));
      expect([...names, ...missing].some((given) => given.startsWith(name))).toBe(true);
      expect(missing).toEqual([]);
    }
    expect(names.filter((name) => name.startsWith("collector, "))).toHaveLength(6);
    for (const { name, measured } of figures) {
      if (name.includes("p50")) expect(measured).toBeGreaterThan(0);
    }
  });

  it("tells where an answer is another than by hand", () => {
    const [, , stats] = splQuestions({ events: 1, traces: ["x"] });
    if (!stats) throw new Error("there is no such question");
    const row = { "service.name": "a", count: "2", mean: "1.5000000001" };
    expect(splDifference(stats, [row], [["a", 2, 1.5]])).toBeUndefined();
    expect(splDifference(stats, [row], [["a", 3, 1.5]])).toMatch(/^row 1 is /);
    expect(splDifference(stats, [row], [])).toBe("1 rows, not 0");
  });
});
