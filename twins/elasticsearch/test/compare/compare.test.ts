/** The comparison with a real Elasticsearch: what it finds, how small it makes it, and that there is nothing to find. */
import { expect, test } from "vitest";
import { compare } from "../../compare/run.ts";
import { startSearch } from "../../testing/search.ts";

const realUrl = process.env.REAL_ELASTICSEARCH_URL;
const maxFindings = 40;
const progress = () => undefined;

test("two twins of the same fidelity answer alike, request by request", async () => {
  const other = await startSearch({ fidelity: "vendor" });
  const report = await compare({ real: other.url, seed: 7, requests: 140, only: [], maxFindings, progress });
  await other.stop();
  expect(report.findings).toEqual([]);
  expect(report.subjects.map(({ requests }) => requests)).toEqual(report.subjects.map(() => 20));
});

test("a server with other rules is found out, by a request of one clause", async () => {
  const other = await startSearch({ fidelity: "specification" });
  const report = await compare({
    real: other.url,
    seed: 1,
    requests: 8,
    only: ["queries"],
    maxFindings,
    progress,
  });
  await other.stop();
  expect(report.findings.length).toBeGreaterThan(0);
  const lengths = report.findings.map(({ request }) => String(request.body).length);
  expect(Math.min(...lengths)).toBeLessThan(100);
  for (const { differences } of report.findings) expect(differences).not.toEqual([]);
});

test.skipIf(realUrl === undefined)("a real Elasticsearch answers what the twin answers", async () => {
  const report = await compare({
    real: realUrl ?? "",
    seed: 1,
    requests: 1_000,
    only: [],
    maxFindings,
    progress,
  });
  expect(report.findings).toEqual([]);
});
