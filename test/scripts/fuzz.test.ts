/** Whatever is sent to twins, control planes and agent: the vendors' answers, in time, and nothing left open. */
import { expect, test } from "vitest";
import { fuzz } from "../../scripts/fuzz/run.ts";

const LIMIT_MS = 90_000;

test("hostile requests find nothing but the vendors' answers", async () => {
  const report = await fuzz({
    seed: 1,
    requests: 8_000,
    limitMs: LIMIT_MS,
    only: [],
    progress: () => undefined,
  });
  expect(report.findings).toEqual([]);
  for (const { name, requests } of report.targets) expect(requests, name).toBeGreaterThan(50);
});
