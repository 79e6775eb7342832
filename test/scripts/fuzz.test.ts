/** Whatever is sent to twins, control planes and agent: the vendors' answers, in time, and nothing left open. */

import { controlRequests, type ListedTable } from "@offhook/platform/testing/fuzz/platform";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz, isChosen } from "../../scripts/fuzz/run.ts";

const REQUESTS = 5_000;
const LIMIT_MS = 240_000;
/** The suite's other programs share the machine: only what hangs is too late. */
const HANGS_MS = 45_000;

/** Always the same ones; `weekly.yml` sends others for longer. */
test("hostile requests find nothing but the vendors' answers", async () => {
  const report = await fuzz({
    seed: 1,
    requests: REQUESTS,
    limitMs: LIMIT_MS,
    slowMs: HANGS_MS,
    only: [],
    progress: () => undefined,
  });
  expect(report.findings).toEqual([]);
  const share = REQUESTS / report.targets.length;
  for (const { name, requests } of report.targets) expect(requests, name).toBeGreaterThanOrEqual(share);
});

test.each([
  ["splunk", "splunk", true],
  ["splunk", "control of splunk", false],
  ["control", "control of splunk", true],
  ["control of splunk", "control of splunk", true],
  ["queries", "queries in SPL", true],
  ["engine", "control of engine", false],
])("--only %s and the part %j: %j", (only, name, chosen) => {
  expect(isChosen(name, [only])).toBe(chosen);
  expect(isChosen(name, [])).toBe(true);
});

test("a row of a table with several key columns is named by all of them", () => {
  const column = (name: string) => ({ name, type: "text", required: true });
  const row = { name: "errors", owner: "alice", app: "search", search: "index=*" };
  const table: ListedTable = {
    name: "saved_searches",
    key: "name",
    key_columns: ["name", "owner", "app"],
    columns: Object.keys(row).map(column),
    rows: [row],
  };
  const requests = fc.sample(controlRequests([table], "key"), { numRuns: 2_000, seed: 1 });
  const keys = requests
    .filter(({ method }) => method === "PATCH")
    .map(({ body }) => body?.toString() ?? "")
    .filter((body) => body.startsWith('{"entity_type":"saved_searches","key":') && body.includes('"alice"'));
  const whole = '"key":{"name":"errors","owner":"alice","app":"search"},';
  expect(keys.filter((body) => body.includes(whole)).length).toBeGreaterThan(20);
});
