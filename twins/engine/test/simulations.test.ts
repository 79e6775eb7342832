import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, expect, test } from "vitest";
import engine from "../index.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startEnvironment("version: 1\nservices: []\n", { twins: [engine] });
  for (const [id, scenario] of [
    ["one", "open-incident"],
    ["two", "open-incident"],
    ["three", "barge-in"],
    ["four", undefined],
  ]) {
    await request("POST", `${twins.baseUrl}/simulations`, { body: { id, scenario } });
  }
  await report("one", { passed: true, failures: [], outcome: "completed", turns: [{ speaker: "caller" }] });
  await report("two", { passed: true, failures: [] });
  await report("two", { passed: false, failures: ["said: nothing"], unchecked: ["response_ms: fast"] });
  await report("three", { passed: "perhaps" });
});
afterAll(() => twins.stop());

async function report(id: string, data: Record<string, unknown>): Promise<void> {
  const body = { service: "caller", event_type: "call_report", data };
  expect((await request("POST", `${twins.baseUrl}/simulations/${id}/events`, { body })).status).toBe(201);
}

async function read(query: string) {
  const url = `${addressesOf(twins, "engine").control_url}/sim/simulations${query}`;
  return request("GET", url, { headers: { "x-api-key": twins.apiKey } });
}

const idsOf = ({ body }: Awaited<ReturnType<typeof read>>): string[] =>
  body.simulations.map(({ id }: { id: string }) => id);

test("each simulation has the last verdict of its caller; what is no verdict is none", async () => {
  const { body } = await read("");
  expect(body).toMatchObject({ total: 4, scenarios: ["barge-in", "open-incident"] });
  const verdicts = body.simulations.map(({ verdict }: { verdict: unknown }) => verdict);
  expect(verdicts).toMatchObject([
    { passed: true, outcome: "completed" },
    { passed: false, failures: ["said: nothing"], unchecked: ["response_ms: fast"], outcome: null },
    null,
    null,
  ]);
  expect(verdicts[0]).not.toHaveProperty("turns");
});

test("simulations are found by verdict, scenario and ids, in pages", async () => {
  expect(idsOf(await read("?verdict=failed"))).toEqual(["two"]);
  expect(idsOf(await read("?verdict=passed"))).toEqual(["one"]);
  expect(idsOf(await read("?verdict=none&order=newest"))).toEqual(["four", "three"]);
  expect(idsOf(await read("?scenario=open-incident&verdict=failed"))).toEqual(["two"]);
  expect(idsOf(await read("?id=three&id=one&id=nobody"))).toEqual(["three", "one"]);
  expect((await read("?id=two")).body.simulations).toMatchObject([{ verdict: { passed: false } }]);
  expect(idsOf(await read("?order=newest&limit=2&offset=1"))).toEqual(["three", "two"]);
});

test("a query that it does not take is refused by name", async () => {
  for (const wrong of ["?verdict=maybe", "?limit=1001", "?state=open", `?${"id=x&".repeat(201)}`]) {
    expect((await read(wrong)).status).toBe(422);
  }
});
