import { once } from "node:events";
import http from "node:http";
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
let shop: string;
let base: string;
beforeEach(async () => {
  const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp, chair] }\n";
  twins = await startEnvironment(services, { twins: [engine, createShop()] });
  ({ url: shop, control_url: base } = addressesOf(twins, "shop"));
});
afterEach(() => twins.stop());

const control = (method: string, path: string, body?: unknown) =>
  request(method, `${base}/sim${path}`, { headers: { "x-api-key": twins.apiKey }, body });

async function tables() {
  return (await control("POST", "/snapshot")).body.tables;
}

describe("what a twin is", () => {
  test("health says that it is up and what it is", async () => {
    const answer = await control("GET", "/health");
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: "ok",
      twin: "shop",
      vendor: "The Shop",
      versions: ["3"],
      sandbox: "dev",
    });
  });

  test("schema lists every table and column in plain language", async () => {
    const { body } = await control("GET", "/schema");
    expect(body.tables.map(({ name }: { name: string }) => name)).toEqual(["makers", "things", "files"]);
    expect(body.tables[1].columns).toContainEqual({
      name: "maker",
      type: "text",
      required: false,
      description: "Who makes it.",
      default: null,
      references: "makers.id",
    });
  });

  test("operations lists what the router serves, and surface narrows it", async () => {
    const { operations } = (await control("GET", "/operations")).body;
    expect(operations).toContainEqual({
      id: "thing.get",
      method: "GET",
      path: "/things/:id",
      surface: "rest",
      summary: "One thing.",
    });
    expect(operations.map(({ id }: { id: string }) => id)).toContain("call.transport");
    const graphql = (await control("GET", "/operations?surface=graphql")).body.operations;
    expect(graphql.map(({ id }: { id: string }) => id)).toEqual(["docs"]);
    expect((await control("GET", "/operations?surface=soap")).status).toBe(422);
  });

  test("the manual lists no endpoints", async () => {
    const answer = await control("GET", "/manual");
    expect(answer.status).toBe(200);
    expect(answer.body.environment).toEqual({ SHOP_URL: shop });
    expect(answer.text).not.toContain("/things");
  });
});

describe("reading rows", () => {
  test("without entity_type: row counts per table and the state's version", async () => {
    expect((await control("GET", "/data")).body).toEqual({
      counts: { makers: 0, things: 2, files: 0 },
      state_version: 1,
    });
  });

  test("with entity_type: rows, total, limit and offset; filters compare columns", async () => {
    expect((await control("GET", "/data?entity_type=things")).body).toEqual({
      entity_type: "things",
      rows: [
        { id: "lamp", maker: null, price: 1 },
        { id: "chair", maker: null, price: 1 },
      ],
      total: 2,
      limit: 100,
      offset: 0,
    });
    const page = (await control("GET", "/data?entity_type=things&limit=1&offset=1&price=1")).body;
    expect(page).toMatchObject({ rows: [{ id: "chair" }], total: 2, limit: 1, offset: 1 });
  });

  test.each([
    ["limit=1000", 200],
    ["limit=1001", 422],
    ["limit=-1", 422],
    ["limit=ten", 422],
    ["limit=", 422],
    ["limit=1.5", 422],
    ["offset=-1", 422],
    ["colour=red", 422],
    ["price=1&price=2", 422],
    ["limit=1&limit=1", 422],
    ["price=cheap", 422],
  ])("%s → %i", async (query, status) => {
    const answer = await control("GET", `/data?entity_type=things&${query}`);
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.body.error.problems).toHaveLength(1);
  });

  test("an unknown table is refused with the names of those there are", async () => {
    const answer = await control("GET", "/data?entity_type=shelves");
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems[0].rule).toContain("makers, things");
  });

  test("a filter without entity_type is refused rather than ignored", async () => {
    expect((await control("GET", "/data?price=1")).status).toBe(422);
  });
});

describe("writing rows", () => {
  test("POST adds rows of many tables at once, which the vendor API then shows", async () => {
    const data = { things: [{ id: "vase", maker: "m" }], makers: [{ id: "m" }] };
    const answer = await control("POST", "/data", { data });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ added: { things: 1, makers: 1 }, state_version: 2 });
    expect((await request("GET", `${shop}/things/vase`)).body).toMatchObject({ maker: "m" });
  });

  test("a bad write is refused with all its problems, and the world is left untouched", async () => {
    const before = await tables();
    const data = {
      makers: [{ id: "m" }],
      things: [
        { id: "vase", price: -1 },
        { id: "x", maker: "none" },
        { id: "y", size: 1 },
      ],
    };
    const answer = await control("POST", "/data", { data });
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe("refused");
    expect(
      answer.body.error.problems.map(({ row, column }: { row: number; column: string }) => [row, column]),
    ).toEqual(
      expect.arrayContaining([
        [0, "price"],
        [2, "size"],
        [1, "maker"],
      ]),
    );
    expect(await tables()).toEqual(before);
  });

  test("PATCH changes rows by key or by where", async () => {
    const byKey = await control("PATCH", "/data", {
      entity_type: "things",
      key: "lamp",
      changes: { price: 5 },
    });
    expect(byKey.body).toEqual({ updated: 1, state_version: 2 });
    const byWhere = await control("PATCH", "/data", {
      entity_type: "things",
      where: { price: 1 },
      changes: { price: 2 },
    });
    expect(byWhere.body).toMatchObject({ updated: 1 });
    expect((await request("GET", `${shop}/things`)).body).toMatchObject([{ price: 5 }, { price: 2 }]);
  });

  test("a change that would break a relationship is refused, naming table, column, value and rule", async () => {
    const answer = await control("PATCH", "/data", {
      entity_type: "things",
      key: "lamp",
      changes: { maker: "none" },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toEqual([
      { table: "things", column: "maker", value: "none", rule: expect.stringContaining("makers.id") },
    ]);
  });

  test("DELETE removes rows, but none that others refer to", async () => {
    await control("POST", "/data", { data: { makers: [{ id: "m" }], things: [{ id: "vase", maker: "m" }] } });
    expect((await control("DELETE", "/data", { entity_type: "makers", key: "m" })).status).toBe(422);
    expect(
      (await control("DELETE", "/data", { entity_type: "things", where: { maker: "m" } })).body,
    ).toMatchObject({
      removed: 1,
    });
    expect((await control("DELETE", "/data", { entity_type: "makers", key: "m" })).status).toBe(200);
  });

  test("matching nothing is a 404", async () => {
    expect(
      (await control("PATCH", "/data", { entity_type: "things", key: "x", changes: { price: 2 } })).status,
    ).toBe(404);
    expect((await control("DELETE", "/data", { entity_type: "things", where: { price: 77 } })).status).toBe(
      404,
    );
  });

  test.each([
    ["POST", { things: [] }],
    ["POST", { data: { things: {} } }],
    ["POST", { data: { things: [1] } }],
    ["PATCH", { entity_type: "things", changes: { price: 2 } }],
    ["PATCH", { entity_type: "things", key: "lamp", where: { id: "lamp" }, changes: { price: 2 } }],
    ["PATCH", { entity_type: "things", key: "lamp", changes: {} }],
    ["PATCH", { entity_type: "things", key: {}, changes: { price: 2 } }],
    ["PATCH", { entity_type: "things", key: { id: "lamp", price: 1 }, changes: { price: 2 } }],
    ["PATCH", { entity_type: "things", key: "lamp" }],
    ["DELETE", { entity_type: "things", where: {} }],
    ["DELETE", { entity_type: "things" }],
    ["DELETE", { entity_type: "shelves", key: "x" }],
    ["DELETE", []],
  ])("%s %j is refused with 422", async (method, body) => {
    const before = await tables();
    const answer = await control(method, "/data", body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems.length).toBeGreaterThan(0);
    expect(await tables()).toEqual(before);
  });

  test("a body that is not JSON is a 400 that says so", async () => {
    const answer = await control("POST", "/data", "{data");
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("malformed_json");
  });
});

describe("snapshot and reset", () => {
  test("the tables of a snapshot, given to reset, bring exactly that state back", async () => {
    const snapshot = (await control("POST", "/snapshot")).body;
    expect(snapshot).toMatchObject({ state_version: 1, clock: { now: expect.any(String) } });
    await control("POST", "/data", { data: { things: [{ id: "vase" }] } });
    await control("DELETE", "/data", { entity_type: "things", key: "lamp" });
    const reset = await control("POST", "/reset", { data: snapshot.tables });
    expect(reset.status).toBe(200);
    expect(await tables()).toEqual(snapshot.tables);
    expect(reset.body.state_version).toBeGreaterThan(snapshot.state_version);
  });

  test.each([
    ["nothing", undefined],
    ["an empty object", {}],
  ])("with %s the state at start comes back", async (_name, body) => {
    const before = await tables();
    await control("DELETE", "/data", { entity_type: "things", key: "lamp" });
    expect((await control("POST", "/reset", body)).status).toBe(200);
    expect(await tables()).toEqual(before);
  });

  test("with a profile that state is loaded; an unknown one is refused", async () => {
    expect((await control("POST", "/reset", { profile: "rich" })).body).toMatchObject({
      counts: { makers: 1, things: 1 },
    });
    const unknown = await control("POST", "/reset", { profile: "poor" });
    expect(unknown.status).toBe(422);
    expect(unknown.body.error.problems[0].rule).toContain("rich");
    expect((await control("GET", "/data")).body.counts).toEqual({ makers: 1, things: 1, files: 0 });
  });

  test.each([
    ["another key", { profil: "rich" }],
    ["another key beside a good one", { profile: "rich", force: true }],
    ["both data and profile", { profile: "rich", data: {} }],
    ["data that breaks a relationship", { data: { things: [{ id: "x", maker: "none" }] } }],
  ])("%s is a 422, before any change", async (_name, body) => {
    const before = (await control("POST", "/snapshot")).body;
    expect((await control("POST", "/reset", body)).status).toBe(422);
    const after = (await control("POST", "/snapshot")).body;
    expect({ ...after, clock: undefined }).toEqual({ ...before, clock: undefined });
  });
});

describe("watch", () => {
  /** Reads events of the stream until `count` have come. */
  async function readEvents(count: number, act: () => Promise<unknown>): Promise<string[]> {
    const client = http.get(`${base}/sim/watch`, { headers: { "x-api-key": twins.apiKey }, agent: false });
    const [response] = (await once(client, "response")) as [http.IncomingMessage];
    expect(response.headers["content-type"]).toContain("text/event-stream");
    let text = "";
    for await (const chunk of response) {
      const first = text === "";
      text += chunk;
      if (first) await act();
      if (text.split("\n\n").length > count) break;
    }
    client.destroy();
    return text.split("\n\n").slice(0, count);
  }

  test("starts with ready and then streams each change", async () => {
    const events = await readEvents(3, async () => {
      await control("POST", "/data", { data: { things: [{ id: "vase" }] } });
      await control("DELETE", "/data", { entity_type: "things", key: "vase" });
    });
    expect(events[0]).toBe('event: ready\ndata: {"stateVersion":1}');
    const changes = events.slice(1).map((event) => {
      expect(event.startsWith("event: change\ndata: ")).toBe(true);
      return JSON.parse(event.slice("event: change\ndata: ".length));
    });
    expect(changes).toEqual([
      { stateVersion: 2, table: "things", change: "insert", row: { id: "vase", maker: null, price: 1 } },
      { stateVersion: 3, table: "things", change: "remove", row: { id: "vase", maker: null, price: 1 } },
    ]);
  });

  test("at most 64 watch a twin at a time, and one that leaves makes room", async () => {
    const controllers = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const controller = new AbortController();
        const { signal } = controller;
        await fetch(`${base}/sim/watch`, { headers: { "x-api-key": twins.apiKey }, signal });
        return controller;
      }),
    );
    expect((await control("GET", "/watch")).status).toBe(429);
    controllers[0]?.abort();
    await expect
      .poll(async () => (await readEvents(1, async () => undefined).catch(() => [])).length)
      .toBe(1);
    for (const controller of controllers) controller.abort();
  });

  test("a watcher that does not read is let go with an overflow event; the world goes on", async () => {
    const client = http.get(`${base}/sim/watch`, { headers: { "x-api-key": twins.apiKey }, agent: false });
    const [response] = (await once(client, "response")) as [http.IncomingMessage];
    response.pause();
    const things = Array.from({ length: 10_000 }, (_, index) => ({
      id: `thing-${index}-${"x".repeat(200)}`,
    }));
    for (let round = 0; round < 6; round++) {
      await control("POST", "/reset", {});
      expect((await control("POST", "/data", { data: { things } })).status).toBe(201);
    }
    let text = "";
    for await (const chunk of response) text += chunk;
    expect(text).toContain("event: overflow");
    expect(text.length).toBeLessThan(things.length * 200 * 6);
  });
});

test("an unknown control route is a 404 and a wrong method a 405, in the control plane's error shape", async () => {
  const unknown = await control("GET", "/nothing");
  expect(unknown.status).toBe(404);
  expect(unknown.body.error).toMatchObject({ code: "not_found", message: expect.any(String) });
  const wrong = await control("PUT", "/data");
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get("allow")).toBe("GET, POST, PATCH, DELETE");
});
