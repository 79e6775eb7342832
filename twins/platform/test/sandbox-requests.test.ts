/** The journals of a sandbox's twins as one: what a read of it finds, shows and refuses. */
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyEntry } from "../http/api-keys.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp] }\n";
const OTHER_KEY = "key-of-another-organisation";

let twins: RunningTwins;
let shop: string;
let shopControl: string;
let ask: ReturnType<typeof sandboxRoutes>;

const ours = { "x-api-key": "" };

beforeAll(async () => {
  const keys = [keyEntry("acme", OTHER_KEY)];
  twins = await startEnvironment(services, {
    twins: [engine, createShop()],
    keys: [keyEntry("local", "k"), ...keys],
  });
  ({ url: shop, control_url: shopControl } = addressesOf(twins, "shop"));
  ours["x-api-key"] = twins.apiKey;
  ask = sandboxRoutes(twins);
  await request("GET", `${shop}/things`);
  await request("POST", `${twins.baseUrl}/simulations`, {
    body: { id: "first", metadata: { word: "needle" } },
  });
  await request("POST", `${shop}/annotate`, { body: { sql: ["SELECT 1", "SELECT 2"], more: true } });
  await request("GET", `${shop}/nothing`);
  await request("POST", `${shopControl}/sim/faults`, {
    headers: ours,
    body: { effect: "status", status: 503, operation: "thing.get", times: 1 },
  });
  await request("GET", `${shop}/things/lamp`);
});
afterAll(() => twins.stop());

async function requests(path: string) {
  const answer = await ask("GET", path);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const operationsOf = (page: { requests: { operation: string | null }[] }) =>
  page.requests.map(({ operation }) => operation);

describe("GET /sandboxes/{id}/requests", () => {
  test("merges the journals of all twins, oldest first, in summaries", async () => {
    const page = await requests("/dev/requests?tier=vendor");
    expect(operationsOf(page)).toEqual(["thing.list", "simulation.create", "annotate", null, "thing.get"]);
    expect(page).toMatchObject({ total: 5, limit: 100, offset: 0, dropped: { vendor: 0, control: 0 } });
    expect(page.requests[0]).toEqual({
      twin: "shop",
      seq: 1,
      tier: "vendor",
      operation: "thing.list",
      method: "GET",
      path: "/things",
      status: 200,
      duration_ms: expect.any(Number),
      received_at: expect.any(String),
      simulated_at: expect.any(String),
      fault: null,
      sql: null,
      notes: false,
    });
    expect(page.requests[2]).toMatchObject({ sql: "SELECT 1;\nSELECT 2", notes: true });
  });

  test("has both tiers unless told, newest first and paged when asked", async () => {
    const whole = await requests("/dev/requests");
    expect(operationsOf(whole)).toContain("fault.arm");
    const newest = await requests("/dev/requests?order=newest&limit=2&offset=1");
    expect(newest.requests).toEqual([...whole.requests].reverse().slice(1, 3));
    expect(newest.total).toBe(whole.total);
  });

  test.each([
    ["twin=engine", ["simulation.create"]],
    ["tier=vendor&twin=engine&twin=shop&method=POST", ["simulation.create", "annotate"]],
    ["operation=annotate", ["annotate"]],
    ["status=4xx", [null]],
    ["status=503", ["thing.get"]],
    ["fault=any", ["thing.get"]],
    ["fault=fault-1", ["thing.get"]],
    ["fault=fault-11", []],
    ["text=needle", ["simulation.create"]],
    ["text=SELECT%202", ["annotate"]],
    ["text=/things/l", ["thing.get"]],
    ["text=NEEDLE", []],
  ])("filters by %s", async (query, expected) => {
    expect(operationsOf(await requests(`/dev/requests?${query}`))).toEqual(expected);
  });

  test("since and until are times by the machine's clock, both included", async () => {
    const all = (await requests("/dev/requests?tier=vendor")).requests;
    for (const { received_at: cut } of all) {
      const until = await requests(`/dev/requests?tier=vendor&until=${cut}`);
      expect(until.requests).toEqual(all.filter((row: { received_at: string }) => row.received_at <= cut));
      const since = await requests(`/dev/requests?tier=vendor&since=${cut}`);
      expect(since.requests).toEqual(all.filter((row: { received_at: string }) => row.received_at >= cut));
    }
    const newest = Date.parse(all.at(-1).received_at);
    const after = new Date(newest + 60_000).toISOString();
    expect((await requests(`/dev/requests?tier=vendor&since=${after}`)).total).toBe(0);
  });

  test.each([
    ["twin=shoe", "twin", "there is no such twin in this sandbox; it has engine, shop"],
    ["since=5", "since", "must be an ISO time"],
    ["fault=some", "fault", "must be any, or the id of a fault"],
    ["text=", "text", ""],
    ["limit=1001", "limit", "at most 1000"],
    ["order=newest&order=oldest", "order", "is given more than once"],
    ["shoe=1", "shoe", "there is no such key here"],
  ])("refuses %s", async (query, field, rule) => {
    const { status, body } = await ask("GET", `/dev/requests?${query}`);
    expect(status).toBe(422);
    expect(body.error.problems).toMatchObject([{ field, rule: expect.stringContaining(rule) }]);
  });

  test("another organisation's sandbox is a 404, as one that never was", async () => {
    const foreign = await ask("GET", "/dev/requests", undefined, OTHER_KEY);
    const none = await ask("GET", "/none/requests", undefined, OTHER_KEY);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(none.text);
    expect((await ask("GET", "/dev/requests", undefined, "wrong")).status).toBe(401);
  });

  test("leaves the journal of the routes themselves where it is", async () => {
    expect(operationsOf(await requests("/requests?limit=1"))).toEqual(["sandbox.requests.read"]);
  });
});

describe("GET /sim/requests/{seq}", () => {
  const one = (seq: string) => request("GET", `${shopControl}/sim/requests/${seq}`, { headers: ours });

  test("shows the entry as /sim/requests does", async () => {
    const list = await request("GET", `${shopControl}/sim/requests?operation=annotate`, { headers: ours });
    const [entry] = list.body.requests;
    const { status, body } = await one(String(entry.seq));
    expect(status).toBe(200);
    expect(body).toEqual(entry);
    expect(body.body).toEqual({ sql: ["SELECT 1", "SELECT 2"], more: true });
  });

  test.each(["0", "999999", "1e0", "newest"])("%s is a 404 that says so", async (seq) => {
    const { status, body } = await one(seq);
    expect(status).toBe(404);
    expect(body.error.message).toBe(`request ${seq} is not in the journal`);
  });
});
