import engine from "@offhook/engine";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSteadyTime, SandboxClock } from "../base/clock.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

describe("a clock", () => {
  /** A machine whose time a test lets pass and jump, and a clock on it. */
  function onMachine() {
    const machine = { wall: Date.UTC(2026, 0, 1), monotonic: 1000 };
    const steady = createSteadyTime({ wallMs: () => machine.wall, monotonicMs: () => machine.monotonic });
    const pass = (ms: number) => {
      machine.wall += ms;
      machine.monotonic += ms;
    };
    return { machine, pass, clock: new SandboxClock(steady) };
  }

  test("is live at first, and after it was returned to live", () => {
    const { clock, machine } = onMachine();
    expect(clock.mode).toBe("live");
    expect(clock.now()).toBe(machine.wall);
    clock.set({ now: 0, speed: 5 });
    clock.setLive();
    expect(clock.mode).toBe("live");
    expect(clock.now()).toBe(machine.wall);
  });

  test("runs on from where it was set", () => {
    const { clock, pass } = onMachine();
    clock.set({ now: 1_000_000 });
    pass(2500);
    expect([clock.now(), clock.mode]).toEqual([1_002_500, "offset"]);
  });

  test("frozen stands still, and goes on from there", () => {
    const { clock, pass } = onMachine();
    clock.set({ now: 1_000_000, speed: 0 });
    pass(60_000);
    expect([clock.now(), clock.mode]).toEqual([1_000_000, "frozen"]);
    clock.set({});
    pass(10);
    expect([clock.now(), clock.mode]).toEqual([1_000_010, "offset"]);
  });

  test("sped runs so many times faster, and slower than the machine as well", () => {
    const { clock, pass } = onMachine();
    clock.set({ now: 0, speed: 3600 });
    pass(24_000);
    expect([clock.now(), clock.mode]).toEqual([86_400_000, "sped"]);
    clock.set({ now: 0, speed: 0.5 });
    pass(1000);
    expect(clock.now()).toBe(500);
  });

  test("says how long the machine takes until a moment, and tells who watches it when it is set", () => {
    const { clock, pass } = onMachine();
    clock.set({ now: 0, speed: 60 });
    expect([clock.realMsUntil(60_000), clock.realMsUntil(0), clock.realMsUntil(-1)]).toEqual([1000, 0, 0]);
    pass(500);
    expect(clock.realMsUntil(60_000)).toBe(500);
    let told = 0;
    const end = clock.watch(() => told++);
    clock.set({ speed: 0 });
    expect([told, clock.realMsUntil(60_000)]).toEqual([1, undefined]);
    clock.setLive();
    expect(told).toBe(2);
    end();
    clock.set({});
    expect(told).toBe(2);
  });

  test("ends with the year 9999", () => {
    const { clock, pass } = onMachine();
    clock.set({ now: Date.UTC(9999, 11, 31), speed: 10_000 });
    pass(3_600_000);
    expect(clock.describe().now).toBe("9999-12-31T23:59:59.999Z");
  });

  test("never goes back but by being set back, whatever the machine's time does", () => {
    const step = fc.oneof(
      fc.record({ pass: fc.integer({ min: 0, max: 5000 }) }),
      fc.record({ machineJumps: fc.integer({ min: -7_200_000, max: 7_200_000 }) }),
      fc.record({ speed: fc.constantFrom(0, 0.1, 1, 7, 10_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, live) => {
        const { clock, machine, pass } = onMachine();
        if (!live) clock.set({ now: 1_000_000 });
        let before = clock.now();
        for (const one of steps) {
          if ("pass" in one) pass(one.pass);
          if ("machineJumps" in one) machine.wall += one.machineJumps;
          if ("speed" in one) clock.set({ speed: one.speed });
          expect(clock.now()).toBeGreaterThanOrEqual(before);
          before = clock.now();
        }
      }),
    );
  });

  test("follows the machine over a suspend, in which its monotonic clock stood still", () => {
    const { clock, machine } = onMachine();
    const before = clock.now();
    machine.wall += 8 * 3_600_000;
    expect(clock.now()).toBe(before + 8 * 3_600_000);
  });
});

describe("over the control plane", () => {
  let twins: RunningTwins;
  beforeEach(async () => {
    twins = await startEnvironment("version: 1\nservices:\n  - name: shop\n", {
      twins: [engine, createShop()],
    });
  });
  afterEach(() => twins.stop());

  const control = (twin: string, method: string, path: string, body?: unknown) =>
    request(method, `${addressesOf(twins, twin).control_url}/sim${path}`, {
      headers: { "x-api-key": twins.apiKey },
      body,
    });

  test("one clock serves every twin of the sandbox: set through one, read through another", async () => {
    const now = "2031-05-05T05:05:05.000Z";
    const set = await control("shop", "PUT", "/clock", { now, frozen: true });
    expect(set).toMatchObject({ status: 200, body: { now, mode: "frozen", speed: 0 } });
    expect((await control("engine", "GET", "/clock")).body).toMatchObject({ now, mode: "frozen" });
  });

  test("what a setting does not name has its default: {now} runs on, {speed} goes on from where it is", async () => {
    await control("shop", "PUT", "/clock", { now: "2031-05-05T05:05:05+02:00", frozen: true });
    const { body } = await control("shop", "PUT", "/clock", { speed: 10 });
    expect(body).toMatchObject({ mode: "sped", speed: 10 });
    expect(Date.parse(body.now)).toBeGreaterThanOrEqual(Date.parse("2031-05-05T03:05:05Z"));
    const offset = (await control("shop", "PUT", "/clock", { now: "2031-01-01T00:00:00Z" })).body;
    expect(offset).toMatchObject({ mode: "offset", speed: 1 });
  });

  test("reset-world returns to live time, for every twin", async () => {
    await control("shop", "PUT", "/clock", { now: "1999-01-01T00:00:00Z", frozen: true });
    expect((await control("engine", "POST", "/reset-world")).body.mode).toBe("live");
    const { now, wall } = (await control("shop", "GET", "/clock")).body;
    expect(Math.abs(Date.parse(now) - Date.parse(wall))).toBeLessThan(1000);
  });

  test("health and snapshot show it; a row, and the journal beside the machine's time, are stamped with it", async () => {
    const now = "2031-05-05T05:05:05.000Z";
    await control("engine", "PUT", "/clock", { now, frozen: true });
    expect((await control("shop", "GET", "/health")).body.clock).toEqual({ now, mode: "frozen", speed: 0 });
    expect((await control("shop", "POST", "/snapshot")).body.clock).toMatchObject({ now });
    const created = await request("POST", `${twins.baseUrl}/simulations`, { body: {} });
    expect(created.body.created_at).toBe(now);
    const [entry] = (await control("engine", "GET", "/requests?tier=vendor")).body.requests;
    expect(entry.simulated_at).toBe(now);
    expect(Math.abs(Date.parse(entry.received_at) - Date.now())).toBeLessThan(60_000);
  });

  test.each([
    ["another key", { now: "2031-01-01T00:00:00Z", colour: 1 }, ["colour"]],
    ["nothing", {}, [""]],
    ["no body", undefined, [""]],
    ["a day without its offset", { now: "2031-01-01" }, ["now"]],
    ["a year out of range", { now: "3500-01-01T00:00:00Z" }, ["now"]],
    ["a speed that is none", { speed: 0 }, ["speed"]],
    ["too much speed", { speed: 1e9 }, ["speed"]],
    ["a frozen clock with a speed", { frozen: true, speed: 2 }, ["speed"]],
    ["everything wrong at once", { now: 5, frozen: "no", speed: -1 }, ["now", "frozen", "speed"]],
  ])("refuses %s with every problem, and leaves the clock alone", async (_what, body, fields) => {
    const answer = await control("shop", "PUT", "/clock", body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems.map(({ field }: { field: string }) => field)).toEqual(fields);
    expect((await control("shop", "GET", "/clock")).body.mode).toBe("live");
  });
});
