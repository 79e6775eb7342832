import { EventEmitter, once } from "node:events";
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { keyEntry } from "../http/api-keys.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { type AskSandboxes, sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop } from "../testing/shop-twin.ts";
import { startEnvironment } from "../testing/twins.ts";

const notes = new EventEmitter();

let twins: RunningTwins;
let ask: AskSandboxes;
beforeAll(async () => {
  const services =
    "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp] }\n    dns_aliases: [shop.example.com]\n";
  twins = await startEnvironment(services, {
    twins: [engine, createShop((what) => notes.emit(what))],
    maxSandboxes: 6,
  });
  ask = sandboxRoutes(twins);
});
afterAll(() => twins.stop());

const things = (sandbox: string) => request("GET", `${twins.baseUrl}/s/${sandbox}/shop/things`);
const control = (method: string, sandbox: string, path: string, body?: unknown) =>
  request(method, `${twins.baseUrl}/c/${sandbox}/shop/sim${path}`, {
    headers: { "x-api-key": twins.apiKey },
    ...(body === undefined ? {} : { body }),
  });

describe("POST /sandboxes", () => {
  test("makes a sandbox with the services of the environment file, its id and addresses told", async () => {
    const made = await ask("POST");
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body).toEqual({
      id: expect.stringMatching(/^sb-[0-9a-f]{12}$/),
      environment: "dev",
      layout: "split",
      created_at: expect.any(String),
      expires_at: null,
      twins: ["engine", "shop"].map((name) => ({
        name,
        url: `${twins.baseUrl}/s/${id}/${name}`,
        control_url: `${twins.baseUrl}/c/${id}/${name}`,
        control_auth: "api_key",
        environment: { [`${name.toUpperCase()}_URL`]: `${twins.baseUrl}/s/${id}/${name}` },
      })),
    });
    expect((await ask("GET", `/${id}`)).body).toEqual(made.body);
    expect((await things(id)).body).toMatchObject([{ id: "lamp" }]);
    await ask("DELETE", `/${id}`);
  });

  test("takes an id and services of its own, the engine being there in any case", async () => {
    const services = [{ name: "shop", config: { stock: ["vase"] } }];
    const made = await ask("POST", "", { id: "mine", services });
    expect(made.status).toBe(201);
    expect(made.body.twins.map(({ name }: { name: string }) => name)).toEqual(["engine", "shop"]);
    expect((await things("mine")).body).toMatchObject([{ id: "vase" }]);
    expect((await ask("POST", "", { id: "mine" })).status).toBe(409);
    const listed = (await ask("GET")).body.sandboxes.map(({ id }: { id: string }) => id);
    expect(listed).toEqual(["dev", "mine"]);
    await ask("DELETE", "/mine");
  });

  test("a profile is what the twin starts with, and what a reset goes back to", async () => {
    const made = await ask("POST", "", { id: "rich", services: [{ name: "shop", profile: "rich" }] });
    expect(made.status).toBe(201);
    expect((await things("rich")).body).toMatchObject([{ id: "gold" }]);
    await control("POST", "rich", "/data", { data: { things: [{ id: "more" }] } });
    expect((await control("POST", "rich", "/reset")).status).toBe(200);
    expect((await things("rich")).body).toMatchObject([{ id: "gold" }]);
    await control("POST", "rich", "/data", { data: { things: [{ id: "more" }] } });
    expect((await ask("POST", "/rich/reset")).status).toBe(200);
    expect((await things("rich")).body).toMatchObject([{ id: "gold" }]);
    await ask("DELETE", "/rich");
  });

  test.each([
    ["an unknown member", { name: "x" }, "name"],
    ["an id with a slash", { id: "a/b" }, "id"],
    ["an id that climbs", { id: ".." }, "id"],
    ["an id in capitals", { id: "ABC" }, "id"],
    ["an id with two hyphens, which stand between organisation and id", { id: "other--mine" }, "id"],
    ["the name of a route as id", { id: "requests" }, "id"],
    ["a long id", { id: "x".repeat(41) }, "id"],
    ["an empty id", { id: "" }, "id"],
    ["an unknown service", { services: [{ name: "bank" }] }, "services.0.name"],
    ["a service twice", { services: [{ name: "shop" }, { name: "shop" }] }, "services.1.name"],
    ["a wrong config", { services: [{ name: "shop", config: { stok: [] } }] }, "services.0.config.stok"],
    ["an unknown key of a service", { services: [{ name: "shop", conf: {} }] }, "services.0.conf"],
    ["a dataset nobody declares", { services: [{ name: "shop", dataset: "x" }] }, "services.0.dataset"],
    ["a layout there is not", { layout: "new" }, "layout"],
    ["no time to live", { ttl_seconds: 0 }, "ttl_seconds"],
    ["more than a week to live", { ttl_seconds: 604_801 }, "ttl_seconds"],
  ])("refuses %s with 422, and says where", async (_name, body, field) => {
    const answer = await ask("POST", "", body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toEqual([expect.objectContaining({ field })]);
    expect((await ask("GET")).body.sandboxes).toHaveLength(1);
  });

  test("a refusal lists what is wrong in shape and what a twin says of its service", async () => {
    const services = [
      { name: "bank", prt: 1 },
      { name: "shop", port: "none", config: { stok: [] } },
    ];
    const answer = await ask("POST", "", { services, layout: "new" });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems.map(({ field }: { field: string }) => field)).toEqual([
      "layout",
      "services.0.prt",
      "services.1.port",
      "services.0.name",
      "services.1.config.stok",
    ]);
  });

  test("a twin that does not start is a 422 with its reason, and leaves nothing", async () => {
    const stopped = once(notes, "stopped");
    const unknownProfile = { id: "broken", services: [{ name: "shop", profile: "poor" }] };
    const refused = await ask("POST", "", unknownProfile);
    expect(refused.status).toBe(422);
    expect(refused.body.error.problems[0].rule).toContain("no such profile");
    await stopped;
    const failing = { id: "broken", services: [{ name: "shop", config: { fails: "the till is missing" } }] };
    const answer = await ask("POST", "", failing);
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toContain("the till is missing");
    expect((await ask("GET", "/broken")).status).toBe(404);
    expect((await ask("POST", "", { id: "broken" })).status).toBe(201);
    await ask("DELETE", "/broken");
  });

  test("a host name that another twin has is a 409; it is free again when its sandbox has ended", async () => {
    const named = (id: string, alias: string) => ({ id, services: [{ name: "shop", dns_aliases: [alias] }] });
    expect((await ask("POST", "", named("one", "shop.example.com"))).status).toBe(409);
    expect((await ask("POST", "", named("one", "other.example.com"))).status).toBe(201);
    expect((await ask("POST", "", named("two", "other.example.com"))).status).toBe(409);
    await ask("DELETE", "/one");
    expect((await ask("POST", "", named("two", "other.example.com"))).status).toBe(201);
    await ask("DELETE", "/two");
  });

  test("the number of sandboxes is bounded; beyond it the answer says what to do", async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => ask("POST")));
    const ids = made.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(ids).toHaveLength(5);
    for (const { status, body } of made.filter(({ status }) => status !== 201)) {
      expect(status).toBe(429);
      expect(body.error.message).toContain("at most 6 sandboxes");
    }
    await Promise.all(ids.map((id) => ask("DELETE", `/${id}`)));
    expect((await ask("GET")).body.sandboxes).toHaveLength(1);
  });

  test("a sandbox with a time to live ends by itself", async () => {
    const stopped = once(notes, "stopped");
    const made = await ask("POST", "", { id: "short", ttl_seconds: 0.05 });
    const lifeMs = Date.parse(made.body.expires_at) - Date.parse(made.body.created_at);
    expect(lifeMs).toBe(50);
    await stopped;
    expect((await ask("GET", "/short")).status).toBe(404);
    // The id is free again, and the timer of the one before ends nothing.
    expect((await ask("POST", "", { id: "short" })).status).toBe(201);
    await ask("DELETE", "/short");
  });
});

describe("sandboxes side by side", () => {
  test("never see one another", async () => {
    await Promise.all(["one", "two"].map((id) => ask("POST", "", { id })));
    await control("POST", "one", "/data", { data: { things: [{ id: "secret" }] } });
    await request("POST", `${twins.baseUrl}/s/one/engine/simulations`, { body: { id: "s" } });
    expect((await things("two")).body).toHaveLength(1);
    expect((await things("dev")).body).toHaveLength(1);
    expect((await request("GET", `${twins.baseUrl}/s/two/engine/simulations/s`)).status).toBe(404);
    expect((await request("GET", `${twins.baseUrl}/simulations/s`)).status).toBe(404);
    const seen = await control("GET", "two", "/requests?tier=vendor");
    expect(seen.body.requests).toHaveLength(1);
    await Promise.all(["one", "two"].map((id) => ask("DELETE", `/${id}`)));
  });

  test("each has its own clock", async () => {
    await Promise.all(["one", "two"].map((id) => ask("POST", "", { id })));
    const set = await control("PUT", "one", "/clock", { now: "2030-01-01T00:00:00Z", frozen: true });
    expect(set.status).toBe(200);
    expect((await control("GET", "one", "/health")).body.clock.now).toContain("2030-01-01");
    expect((await control("GET", "two", "/health")).body.clock.now).not.toContain("2030");
    await Promise.all(["one", "two"].map((id) => ask("DELETE", `/${id}`)));
  });
});

describe("DELETE /sandboxes/{id}", () => {
  test("ends sockets with 1001, streams and waiting requests, and stops the twins", async () => {
    await ask("POST", "", { id: "gone" });
    const socket = new WebSocket(`${twins.baseUrl.replace("http:", "ws:")}/s/gone/shop/call/x/transport`);
    await once(socket, "open");
    const dev = new WebSocket(`${twins.baseUrl.replace("http:", "ws:")}/s/dev/shop/call/x/transport`);
    await once(dev, "open");
    const waiting = once(notes, "waiting");
    const hanging = request("GET", `${twins.baseUrl}/s/gone/shop/hang`);
    hanging.catch(() => undefined);
    await waiting;
    const headers = { "x-api-key": twins.apiKey };
    const watching = await fetch(`${twins.baseUrl}/c/gone/shop/sim/watch`, { headers });
    const reader = watching.body?.getReader();
    await reader?.read();
    const closed = once(socket, "close");
    const stopped = once(notes, "stopped");
    const aborted = once(notes, "aborted");

    const answer = await ask("DELETE", "/gone");

    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" });
    expect((await closed)[0]).toBe(1001);
    await stopped;
    await aborted;
    await expect(hanging).rejects.toThrow();
    await expect(reader?.read()).rejects.toThrow();
    expect((await things("gone")).status).toBe(404);
    expect((await control("GET", "gone", "/health")).status).toBe(404);
    expect(dev.readyState).toBe(WebSocket.OPEN);
    dev.close();
  });

  test("of dev is refused: the engine at the root is always there", async () => {
    const answer = await ask("DELETE", "/dev");
    expect(answer.status).toBe(409);
    expect(answer.body.error.message).toContain("reset it instead");
    expect((await things("dev")).status).toBe(200);
  });

  test("of an unknown one, or a second time, is a 404", async () => {
    await ask("POST", "", { id: "once" });
    const answers = await Promise.all([ask("DELETE", "/once"), ask("DELETE", "/once")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect((await ask("DELETE", "/never")).status).toBe(404);
  });

  test("racing with creation, reset and use, never fails and leaves nothing behind", async () => {
    const statuses = new Set<string>();
    const note = async (what: string, asked: Promise<{ status: number }>) =>
      statuses.add(`${what} ${(await asked).status}`);
    const rounds = Array.from({ length: 60 }, (_, index) => {
      const id = `race-${index % 3}`;
      switch (index % 4) {
        case 0:
          return note("create", ask("POST", "", { id }));
        case 1:
          return note("reset", ask("POST", `/${id}/reset`));
        case 2:
          return note("use", things(id));
        default:
          return note("delete", ask("DELETE", `/${id}`));
      }
    });
    await Promise.all(rounds);
    const expected = [
      "create 201",
      "create 409",
      "reset 200",
      "reset 404",
      "use 200",
      "use 404",
      "delete 204",
      "delete 404",
    ];
    for (const status of statuses) expect(expected).toContain(status);
    await Promise.all([0, 1, 2].map((index) => ask("DELETE", `/race-${index}`)));
    expect((await ask("GET")).body.sandboxes).toHaveLength(1);
  });
});

describe("records of the sandbox routes", () => {
  test("are kept as control traffic, without what is secret in services and answers", async () => {
    const services = [{ name: "shop", config: { stock: ["private-stock"] } }];
    await ask("POST", "", { id: "recorded", services });
    await ask("POST", "/recorded/reset");
    await ask("DELETE", "/recorded");
    const records = await ask("GET", "/requests?tier=control&limit=1000");
    const paths = records.body.requests.map(
      ({ method, path, operation, tier }: Record<string, string>) => `${tier} ${operation} ${method} ${path}`,
    );
    expect(paths).toContain("control sandbox.create POST /sandboxes");
    expect(paths).toContain("control sandbox.reset POST /sandboxes/recorded/reset");
    expect(paths).toContain("control sandbox.delete DELETE /sandboxes/recorded");
    expect(records.text).not.toContain("private-stock");
    expect(records.text).not.toContain(twins.apiKey);
    expect((await control("GET", "dev", "/requests")).text).not.toContain("/sandboxes");
  });
});

test("the voice channels of a sandbox are the environment file's and those of agents that run", async () => {
  const services = `version: 1
services: [{ name: shop }]
actor:
  channels:
    - { type: voice_ws, url: "ws://127.0.0.1:8008/voice", language: de }
`;
  const running: { type: "voice_ws"; url: string; protocol: "binary" | "json" }[] = [];
  const own = await startEnvironment(services, {
    twins: [engine, createShop()],
    keys: [keyEntry("local", "our own key"), keyEntry("acme", "key of acme")],
    channels: async () => running,
  });
  const ownAsk = sandboxRoutes(own);
  const listed = {
    type: "voice_ws",
    url: "ws://127.0.0.1:8008/voice",
    protocol: "binary",
    language: "de",
    wait_for_callee_first: false,
    source: "environment",
  };
  expect((await ownAsk("GET", "/dev/channels")).body).toEqual({ channels: [listed] });
  const agent = { type: "voice_ws", url: "ws://127.0.0.1:9009/voice", protocol: "json" } as const;
  running.push(agent);
  expect((await ownAsk("GET", "/dev/channels")).body).toEqual({
    channels: [listed, { ...agent, source: "running" }],
  });
  expect((await ownAsk("GET", "/dev/channels?x=1")).status).toBe(422);
  expect((await ownAsk("GET", "/none/channels")).status).toBe(404);
  // Agent and environment file are the first organisation's.
  await ownAsk("POST", "", { id: "box" }, "key of acme");
  expect((await ownAsk("GET", "/dev/channels", undefined, "key of acme")).status).toBe(404);
  expect((await ownAsk("GET", "/box/channels", undefined, "key of acme")).body).toEqual({ channels: [] });
  await own.stop();
});

test("stopping the twins ends sandboxes that are starting or ending, and takes no more", async () => {
  const heard: string[] = [];
  const own = await startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
    twins: [engine, createShop((what) => heard.push(what))],
  });
  const ownAsk = sandboxRoutes(own);
  await ownAsk("POST", "", { id: "ending" });
  const racing = [ownAsk("POST", "", { id: "late" }), ownAsk("DELETE", "/ending"), own.stop()];
  await Promise.allSettled(racing);
  // `dev` and `ending` were there; `late` either never started or was stopped as well.
  expect(heard.filter((what) => what === "stopped").length).toBeGreaterThanOrEqual(2);
  await expect(ownAsk("GET")).rejects.toThrow();
});
