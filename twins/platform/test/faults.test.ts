import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FaultyShop, startFaultyShop } from "../testing/faulty-shop.ts";
import { request } from "../testing/http.ts";

let shop: FaultyShop;
beforeEach(async () => {
  shop = await startFaultyShop();
});
afterEach(() => shop.stop());

/** Statuses of so many requests, one after the other. */
async function statuses(count: number, path = "/things"): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index++) {
    seen.push((await request("GET", `${shop.url}${path}`)).status);
  }
  return seen;
}

const broken = { effect: "status", status: 503, operation: "thing.list" };

describe("which requests a fault hits", () => {
  test("those of its operation alone", async () => {
    await shop.arm(broken);
    expect(await statuses(1)).toEqual([503]);
    expect(await statuses(1, "/things/lamp")).toEqual([200]);
  });

  test("with all: those of every operation, but nothing that the vendor does not serve", async () => {
    await shop.arm({ effect: "status", status: 503, all: true });
    expect([await statuses(1), await statuses(1, "/things/lamp"), await statuses(1, "/nowhere")]).toEqual([
      [503],
      [503],
      [404],
    ]);
  });

  test("the next N, after K that pass", async () => {
    await shop.arm({ ...broken, after: 2, times: 3 });
    expect(await statuses(7)).toEqual([200, 200, 503, 503, 503, 200, 200]);
    expect(await shop.only()).toMatchObject({ state: "spent", hits: 3, remaining: 0 });
  });

  test("those of its time: after ttl_seconds it is removed, and what it held up is answered", async () => {
    await shop.arm({ effect: "hang", operation: "thing.list", ttl_seconds: 1 });
    expect(await shop.only()).toMatchObject({ state: "armed", ttl_seconds: 1 });
    // Answered when the fault ends, and not before.
    expect(await statuses(1)).toEqual([200]);
    expect((await shop.control("GET", "/faults")).body.faults).toEqual([]);
    expect(await statuses(1)).toEqual([200]);
  });

  test("exactly N of many that come at once", async () => {
    await shop.arm({ ...broken, times: 7 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => request("GET", `${shop.url}/things`)));
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(7);
    expect(await shop.only()).toMatchObject({ hits: 7, remaining: 0 });
  });

  test("a probability repeats with its seed, and differs with another", async () => {
    const run = async (seed: number) => {
      await shop.control("DELETE", "/faults");
      await shop.arm({ ...broken, probability: 0.5, seed });
      return statuses(40);
    };
    const first = await run(42);
    expect(await run(42)).toEqual(first);
    expect(await run(43)).not.toEqual(first);
    const hits = first.filter((status) => status === 503).length;
    expect(hits).toBeGreaterThan(8);
    expect(hits).toBeLessThan(32);
  });

  test("one with the headers and JSON members that are asked for", async () => {
    await shop.arm({
      effect: "status",
      status: 429,
      operation: "echo",
      match: {
        method: "POST",
        path: "/ec*o",
        headers: { "X-Tenant": "a" },
        json: { "order.kind": "express", "order.lines.0": { id: 1 } },
      },
    });
    const order = { order: { kind: "express", lines: [{ id: 1 }] } };
    const send = async (body: unknown, headers: Record<string, string>) =>
      (await request("POST", `${shop.url}/echo`, { body, headers })).status;
    expect(await send(order, { "x-tenant": "a" })).toBe(429);
    expect(await send(order, { "x-tenant": "b" })).toBe(200);
    expect(await send({ order: { ...order.order, kind: "slow" } }, { "x-tenant": "a" })).toBe(200);
    expect(await send("no JSON", { "x-tenant": "a" })).toBe(200);
    expect(await shop.only()).toMatchObject({ seen: 1, hits: 1 });
  });

  test.each([
    ["/things", "/things", true],
    ["/things", "/things/lamp", false],
    ["/things*", "/things/lamp", true],
    ["/*/lamp", "/things/lamp", true],
    ["*lamp", "/things/lamp", true],
    ["/t*s/*a*p", "/things/lamp", true],
    ["/things/lamp*lamp", "/things/lamp", false],
    ["/th.ngs/lamp", "/things/lamp", false],
  ])("path %s on %s: %s", async (path, asked, hit) => {
    const pattern = path.startsWith("/") ? path : `/${path}`;
    await shop.arm({ effect: "status", status: 503, all: true, match: { path: pattern } });
    expect(await statuses(1, asked)).toEqual([hit ? 503 : 200]);
  });

  test("the first that hits is the one, and the others do not count the request", async () => {
    await shop.arm({ ...broken, times: 1 });
    await shop.arm({ ...broken, status: 429 });
    expect(await statuses(3)).toEqual([503, 429, 429]);
    const { faults } = (await shop.control("GET", "/faults")).body;
    expect(faults.map(({ seen }: { seen: number }) => seen)).toEqual([1, 2]);
  });

  test("never one of the control plane", async () => {
    await shop.arm({ effect: "hang", all: true });
    expect((await shop.control("GET", "/health")).status).toBe(200);
    expect((await shop.control("DELETE", "/faults")).status).toBe(200);
  });

  test("nothing of another twin", async () => {
    await shop.arm({ effect: "status", status: 503, all: true });
    expect((await request("POST", `${shop.twins.baseUrl}/simulations`, { body: {} })).status).toBe(201);
  });
});

describe("how long a fault lasts", () => {
  test("until it is removed, by its id or with all others", async () => {
    const { id } = await shop.arm(broken);
    await shop.arm({ ...broken, operation: "thing.get" });
    expect((await shop.control("DELETE", `/faults/${id}`)).body).toMatchObject({ id, hits: 0 });
    expect([await statuses(1), await statuses(1, "/things/lamp")]).toEqual([[200], [503]]);
    expect((await shop.control("DELETE", "/faults")).body).toEqual({ removed: 1 });
    expect(await statuses(1, "/things/lamp")).toEqual([200]);
    expect((await shop.control("DELETE", `/faults/${id}`)).status).toBe(404);
  });

  test("a reset of the twin removes it, one that is refused does not", async () => {
    await shop.arm(broken);
    expect((await shop.control("POST", "/reset", { profile: "none such" })).status).toBe(422);
    expect(await statuses(1)).toEqual([503]);
    expect((await shop.control("POST", "/reset", {})).status).toBe(200);
    expect((await shop.control("GET", "/faults")).body.faults).toEqual([]);
    expect(await statuses(1)).toEqual([200]);
  });

  test("a reset of the sandbox removes it", async () => {
    await shop.arm(broken);
    const headers = { "x-api-key": shop.twins.apiKey };
    const reset = await request("POST", `${shop.twins.baseUrl}/sandboxes/dev/reset`, { headers });
    expect(reset.status).toBe(200);
    expect(await statuses(1)).toEqual([200]);
  });

  test("it is part of no snapshot", async () => {
    const before = (await shop.control("POST", "/snapshot")).body;
    await shop.arm(broken);
    const after = (await shop.control("POST", "/snapshot")).body;
    expect({ ...after, clock: null }).toEqual({ ...before, clock: null });
  });

  test("a twin has at most 100; spent ones make room", async () => {
    await shop.arm({ ...broken, times: 1 });
    for (let index = 1; index < 100; index++) await shop.arm({ ...broken, operation: "thing.get" });
    expect((await shop.control("POST", "/faults", broken)).status).toBe(409);
    await statuses(1);
    expect((await shop.control("POST", "/faults", broken)).status).toBe(201);
    const { faults } = (await shop.control("GET", "/faults")).body;
    expect(faults).toHaveLength(100);
    expect(faults[0].id).toBe("fault-2");
  });
});

describe("arming", () => {
  test("answers the fault as the listing shows it", async () => {
    const fault = await shop.arm({ ...broken, times: 2, probability: 0.5, seed: 3 });
    expect(fault).toEqual({
      id: "fault-1",
      effect: "status",
      status: 503,
      operation: "thing.list",
      times: 2,
      probability: 0.5,
      seed: 3,
      state: "armed",
      seen: 0,
      hits: 0,
      remaining: 2,
    });
    expect(await shop.only()).toEqual(fault);
  });

  test("a status that this twin does not answer is refused with those it does, which its manual lists", async () => {
    const answer = await shop.control("POST", "/faults", { ...broken, status: 418 });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toEqual([{ field: "status", rule: "must be one of 429, 500, 503" }]);
    expect((await shop.control("GET", "/manual")).body.fault_statuses).toEqual([429, 500, 503]);
  });

  test.each([
    ["nothing", undefined, [""]],
    ["an unknown effect", { effect: "explode", times: 0 }, ["times", "effect"]],
    ["no scope", { effect: "hang" }, ["operation"]],
    ["two scopes", { effect: "hang", all: true, operation: "echo" }, ["operation"]],
    ["an operation that is none", { effect: "hang", operation: "thing.steal" }, ["operation"]],
    ["an HTTP effect on a socket", { effect: "hang", operation: "call.transport" }, ["operation"]],
    ["a socket's effect on HTTP", { effect: "drop", operation: "echo" }, ["operation"]],
    ["another key", { effect: "hang", all: true, colour: "red" }, ["colour"]],
    ["a seed without a probability", { effect: "hang", all: true, seed: 1 }, ["seed"]],
    ["a slow fault that is not slow", { effect: "slow", all: true }, [""]],
    ["a path without its slash", { effect: "hang", all: true, match: { path: "things" } }, ["match.path"]],
    [
      "a path with a query, which no path has",
      { effect: "hang", all: true, match: { path: "/a?b=1" } },
      ["match.path"],
    ],
    ["a close code that may not be sent", { effect: "drop", all: true, code: 1006 }, ["code"]],
    [
      "everything wrong at once",
      {
        effect: "status",
        status: 1,
        times: 0,
        after: -1,
        probability: 2,
        delay_ms: 1e9,
        seed: 0.5,
        match: { x: 1 },
      },
      ["match.x", "after", "probability", "seed", "times", "delay_ms", "status", "operation"],
    ],
  ])("refuses %s with every problem", async (_what, body, fields) => {
    const answer = await shop.control("POST", "/faults", body);
    expect(answer.status).toBe(422);
    const named = answer.body.error.problems.map(({ field }: { field: string }) => field);
    expect(named.sort()).toEqual([...fields].sort());
    expect((await shop.control("GET", "/faults")).body.faults).toEqual([]);
  });

  test.each([
    [null, "match", "must be an object of method, path, headers and json; leave it out to match any"],
    [[], "match", "must be an object of method, path, headers and json; leave it out to match any"],
    [{ path: null }, "match.path", "must be a text"],
    [
      { headers: null },
      "match.headers",
      "must be an object of header names and values; leave it out to match any",
    ],
    [
      { json: 1 },
      "match.json",
      "must be an object of paths in the body and values; leave it out to match any",
    ],
    [{ x: 1 }, "match.x", "there is no such key here"],
  ])("refuses the match %j and says what would be right", async (match, field, rule) => {
    const answer = await shop.control("POST", "/faults", { effect: "hang", all: true, match });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toEqual([{ field, rule }]);
  });
});

describe("templates", () => {
  async function template(description: string, query = "") {
    const { templates } = (await shop.control("GET", `/faults/templates${query}`)).body;
    const found = templates.find((one: { description: string }) => one.description === description);
    if (!found) throw new Error(`no template says: ${description}`);
    return found.fault;
  }

  test("have a name and a sentence of their own each", async () => {
    const { templates } = (await shop.control("GET", "/faults/templates")).body;
    for (const member of ["name", "description"]) {
      const said = templates.map((one: Record<string, string>) => one[member]);
      expect(new Set(said).size).toBe(said.length);
    }
  });

  test("do what they say: the next one alone", async () => {
    await shop.arm(
      await template("The next thing.list is answered with 503 Service Unavailable, with Retry-After 5."),
    );
    expect(await statuses(2)).toEqual([503, 200]);
    expect(await shop.only()).toMatchObject({ state: "spent", hits: 1 });
  });

  test("do what they say: every one, late", async () => {
    await shop.arm(await template("Each thing.get is 800 ms late."));
    expect(await statuses(1, "/things/lamp")).toEqual([200]);
    const [entry] = await shop.requests();
    expect(entry.duration_ms).toBeGreaterThanOrEqual(800);
    expect(entry.fault).toBe("fault-1 slow");
  });

  test("of one operation are more, and of none that is not served any", async () => {
    const fault = await template(
      "The next echo is not answered until the fault is removed.",
      "?operation=echo",
    );
    expect(fault).toEqual({ effect: "hang", operation: "echo", times: 1 });
    const socket = (await shop.control("GET", "/faults/templates?operation=call.transport")).body.templates;
    expect(socket.map(({ fault }: { fault: { effect: string } }) => fault.effect)).toEqual([
      "refuse_upgrade",
      "drop",
      "drop",
      "freeze",
      "drop",
    ]);
    const unknown = await shop.control("GET", "/faults/templates?operation=nothing");
    expect(unknown.status).toBe(422);
    expect(unknown.body.error.problems).toMatchObject([{ field: "operation" }]);
  });
});
