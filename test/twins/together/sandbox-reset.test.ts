import { EventEmitter, once } from "node:events";
import path from "node:path";
import engine from "@offhook/engine";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { type AskSandboxes, sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import { createShop } from "@offhook/platform/testing/shop-twin";
import { startEnvironment } from "@offhook/platform/testing/twins";
import type { RunningTwin, TwinContext } from "@offhook/platform/twin/twin";
import { WorldUnavailable } from "@offhook/platform/world/world";
import postgres from "@offhook/postgres";
import { postgresService } from "@offhook/postgres/testing/tables";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

/** What the bank does when it is reset. */
let bankReset: (reset: () => Promise<void>, twin: RunningTwin) => Promise<void>;

const shop = createShop();
/** A second shop, whose resets fail as a test wishes. */
const bank = {
  ...createShop(),
  name: "bank",
  async start(context: TwinContext, config: { stock: string[] }) {
    const running = await shop.start(context, config);
    return { ...running, reset: () => bankReset(() => running.reset(), running) };
  },
};

let twins: RunningTwins;
let ask: AskSandboxes;
beforeAll(async () => {
  const services =
    "version: 1\nservices:\n  - { name: shop, config: { stock: [lamp] } }\n  - { name: bank, config: { stock: [coin] } }\n";
  twins = await startEnvironment(services, { twins: [engine, shop, bank] });
  ask = sandboxRoutes(twins);
});
afterAll(() => twins.stop());

beforeEach(async () => {
  bankReset = (reset) => reset();
  await ask("POST", "", { id: "box" });
});
afterEach(() => ask("DELETE", "/box"));

const control = (twin: string, path: string, body?: unknown) =>
  request("POST", `${twins.baseUrl}/c/box/${twin}/sim${path}`, {
    headers: { "x-api-key": twins.apiKey },
    ...(body === undefined ? {} : { body }),
  });
const tables = async (twin: string) => (await control(twin, "/snapshot")).body.tables;

async function change(): Promise<void> {
  await request("POST", `${twins.baseUrl}/s/box/engine/simulations`, { body: { id: "run" } });
  for (const twin of ["shop", "bank"]) await control(twin, "/data", { data: { things: [{ id: "new" }] } });
  await request("POST", `${twins.baseUrl}/c/box/shop/sim/files?name=note.txt`, {
    headers: { "x-api-key": twins.apiKey, "content-type": "text/plain" },
    body: "hello",
  });
}

async function allTables() {
  return { engine: await tables("engine"), shop: await tables("shop"), bank: await tables("bank") };
}

describe("POST /sandboxes/{id}/reset", () => {
  test("puts every twin back to its start, and says which version each has then", async () => {
    const before = await allTables();
    await change();
    expect(await allTables()).not.toEqual(before);
    const answer = await ask("POST", "/box/reset");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: "box",
      twins: ["engine", "shop", "bank"].map((name) => ({ name, state_version: expect.any(Number) })),
    });
    expect(await allTables()).toEqual(before);
  });

  test("when one twin fails before it has changed anything, every twin has the state it had", async () => {
    await change();
    const before = await allTables();
    bankReset = () => Promise.reject(new Error("the vault is shut"));
    const answer = await ask("POST", "/box/reset");
    expect(answer.status).toBe(500);
    expect(answer.body.error).toEqual({
      code: "not_reset",
      message: expect.stringContaining("no twin was reset"),
      problems: [{ twin: "bank", rule: "could not be reset: the vault is shut" }],
    });
    expect(await allTables()).toEqual(before);
  });

  test("when one twin fails half way, it has the state it had as well", async () => {
    await change();
    const before = await allTables();
    bankReset = async (reset) => {
      await reset();
      throw new Error("the vault fell shut");
    };
    expect((await ask("POST", "/box/reset")).status).toBe(500);
    expect(await allTables()).toEqual(before);
  });

  test("a twin that fails late is waited for before anything is put back", async () => {
    await change();
    const before = await allTables();
    const signs = new EventEmitter();
    const started = once(signs, "started");
    bankReset = async () => {
      const going = once(signs, "go");
      signs.emit("started");
      await going;
      throw new Error("late");
    };
    const asked = ask("POST", "/box/reset");
    await started;
    signs.emit("go");
    expect((await asked).status).toBe(500);
    expect(await allTables()).toEqual(before);
  });

  test("a twin that can neither be reset nor get its state back is named", async () => {
    await change();
    bankReset = async (reset, { world }) => {
      await reset();
      world.load = () => Promise.reject(new Error("the vault is lost"));
      throw new Error("the vault is shut");
    };
    const answer = await ask("POST", "/box/reset");
    expect(answer.status).toBe(500);
    expect(answer.body.error.message).toContain("delete the sandbox");
    expect(answer.body.error.problems).toEqual([
      { twin: "bank", rule: "could not be reset: the vault is shut" },
      { twin: "bank", rule: "did not get its state back: the vault is lost" },
    ]);
  });

  test("a twin that has no room to begin has lost nothing, although nothing could be put back either: 503", async () => {
    await change();
    const before = await allTables();
    bankReset = async (_reset, { world }) => {
      world.load = () => Promise.reject(new WorldUnavailable("the disk is full"));
      throw new WorldUnavailable("the disk is full");
    };
    const answer = await ask("POST", "/box/reset");
    expect(answer.status).toBe(503);
    expect(answer.body.error.message).toContain("no twin was reset");
    expect(answer.body.error.problems).toEqual([
      { twin: "bank", rule: "could not be reset: the disk is full" },
    ]);
    expect(await allTables()).toEqual(before);
  });

  test("a state that cannot be kept, for there is no room on disk, is not given up: 503", async () => {
    // More than waits in memory.
    await control("shop", "/data", { data: { things: [{ id: "x".repeat(1.5 * 2 ** 20) }] } });
    const before = await allTables();
    vi.stubEnv("TMPDIR", path.join(import.meta.dirname, "no-such-folder"));
    const answer = await ask("POST", "/box/reset");
    vi.unstubAllEnvs();
    expect(answer.status).toBe(503);
    expect(answer.body.error.problems).toEqual([
      { twin: "shop", rule: expect.stringContaining("make room on its disk") },
    ]);
    expect(await allTables()).toEqual(before);
  });

  test("resets of one sandbox go one after the other", async () => {
    let under = 0;
    let most = 0;
    bankReset = async (reset) => {
      most = Math.max(most, ++under);
      await reset();
      under--;
    };
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("POST", "/box/reset")));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(most).toBe(1);
  });

  test("a deletion waits for the reset that runs", async () => {
    const signs = new EventEmitter();
    const started = once(signs, "started");
    const order: string[] = [];
    bankReset = async (reset) => {
      const going = once(signs, "go");
      signs.emit("started");
      await going;
      await reset();
      order.push("reset");
    };
    const resetting = ask("POST", "/box/reset");
    await started;
    const deleting = ask("DELETE", "/box").finally(() => order.push("deleted"));
    while ((await ask("GET", "/box")).status !== 404);
    expect((await ask("POST", "/box/reset")).status).toBe(404);
    signs.emit("go");
    expect((await resetting).status).toBe(200);
    expect((await deleting).status).toBe(204);
    expect(order).toEqual(["reset", "deleted"]);
  });

  test.each([
    ["a body with members", { profile: "rich" }, 422],
    ["a list", [], 422],
    ["broken JSON", "{", 400],
  ])("refuses %s", async (_name, body, status) => {
    expect((await ask("POST", "/box/reset", body)).status).toBe(status);
  });

  test("of an unknown sandbox is a 404", async () => {
    expect((await ask("POST", "/none/reset")).status).toBe(404);
  });
});

test("a snapshot taken while resets and writes run is the state of one moment", async () => {
  const pair = (index: number) =>
    control("shop", "/data", {
      data: { makers: [{ id: `m${index}` }], things: [{ id: `t${index}`, maker: `m${index}` }] },
    });
  const snapshots = Array.from({ length: 40 }, () => control("shop", "/snapshot"));
  const work = Array.from({ length: 40 }, (_, index) =>
    index % 4 === 0 ? ask("POST", "/box/reset") : pair(index),
  );
  const taken = (await Promise.all([...snapshots, ...work])).slice(0, 40);
  for (const { body } of [...taken, await control("shop", "/snapshot")]) {
    const makers = body.tables.makers.map(({ id }: { id: string }) => id.slice(1));
    const made = body.tables.things.filter(({ maker }: { maker: string | null }) => maker !== null);
    expect(made.map(({ id }: { id: string }) => id.slice(1))).toEqual(makers);
    expect(body.tables.things.some(({ id }: { id: string }) => id === "lamp")).toBe(true);
  }
});

test("a database gets its rows and its sequences back when another twin fails", async () => {
  const own = await startEnvironment(`version: 1\nservices: [${postgresService}, { name: bank }]\n`, {
    twins: [engine, postgres, bank],
  });
  const ownAsk = sandboxRoutes(own);
  const database = own.sandboxes[0]?.twins.find(({ name }) => name === "postgres");
  const asked = async (method: string, path: string, body?: unknown) => {
    const headers = { "x-api-key": own.apiKey };
    return (await request(method, `${database?.control_url}/sim${path}`, { headers, body })).body;
  };
  const row = { service: "checkout", severity: 2, title: "before the reset" };
  await asked("POST", "/data", { data: { incidents: [row] } });
  const before = (await asked("POST", "/snapshot")).tables;
  bankReset = () => Promise.reject(new Error("the vault is shut"));
  const failed = await ownAsk("POST", "/dev/reset");
  expect(failed.body.error.problems).toEqual([expect.objectContaining({ twin: "bank" })]);
  expect((await asked("POST", "/snapshot")).tables).toEqual(before);
  const next = await asked("POST", "/data", { data: { incidents: [{ ...row, title: "after it" }] } });
  expect(JSON.stringify(next)).not.toContain("error");
  bankReset = (reset) => reset();
  expect((await ownAsk("POST", "/dev/reset")).status).toBe(200);
  expect((await asked("GET", "/data?entity_type=incidents")).total).toBe(3);
  await own.stop();
});

test("faults go with a reset, and stay when it fails", async () => {
  const headers = { "x-api-key": twins.apiKey };
  const faults = async () =>
    (await request("GET", `${twins.baseUrl}/c/box/shop/sim/faults`, { headers })).body.faults;
  await control("shop", "/faults", { effect: "slow", delay_ms: 1, all: true });
  bankReset = () => Promise.reject(new Error("the vault is shut"));
  await ask("POST", "/box/reset");
  expect(await faults()).toHaveLength(1);
  bankReset = (reset) => reset();
  await ask("POST", "/box/reset");
  expect(await faults()).toHaveLength(0);
});

test("a sandbox that ends waits for the reset of one of its twins, and lets no further one begin", async () => {
  const signs = new EventEmitter();
  const done: string[] = [];
  bankReset = async (reset) => {
    const going = once(signs, "go");
    signs.emit("started");
    await going;
    await reset();
    done.push("reset");
  };
  const started = once(signs, "started");
  const resetting = Promise.allSettled([control("bank", "/reset"), control("bank", "/reset")]);
  await started;
  const deleting = ask("DELETE", "/box").finally(() => done.push("deleted"));
  while ((await ask("GET", "/box")).status !== 404);
  signs.emit("go");
  expect((await deleting).status).toBe(204);
  await resetting;
  expect(done).toEqual(["reset", "deleted"]);
});
