import { spawnSync } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describeMachine, figure, tableOf } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type CostWindow, costFigures } from "../../../scripts/bench/calls/cost.ts";
import { streamBothWays } from "../../../scripts/bench/calls/stream.ts";
import { checkFloors, readFloors, sentenceOf } from "../../../scripts/bench/check.ts";
import { fitSlope } from "../../../scripts/shared/slope.ts";

const root = new URL("../../..", import.meta.url).pathname;

describe("npm run bench", () => {
  it("answers an unknown name with the names there are", () => {
    const run = spawnSync(process.execPath, ["--import", "tsx", "scripts/bench.ts", "nothing"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(run.status).toBe(2);
    expect(run.stderr).toContain(
      "there is no bench nothing; there are: calls, soak, sandbox, search, log-query",
    );
    expect(run.stdout).toBe("");
  });
});

describe("processor time a frame", () => {
  const windowsOf = (floors: readonly number[], control = 1.01): CostWindow[] =>
    floors.map((floor) => ({
      floor,
      control: floor * control,
      agent: floor * 1.05,
      recorded: floor * 1.3,
      traced: floor * 1.06,
    }));
  const verdicts = (windows: readonly CostWindow[], notes: string[]) =>
    costFigures(windows, 8, notes).map(({ passed }) => passed);

  it("is judged by the median of each window's ratio, however fast the machine was in it", () => {
    const notes: string[] = [];
    const [agent, recorded, traced, calls] = costFigures(windowsOf([24, 25, 56, 25, 26, 90, 24]), 8, notes);
    expect(agent).toMatchObject({ value: expect.closeTo(1.05), passed: true });
    expect(recorded).toMatchObject({ value: expect.closeTo(1.3), passed: false });
    expect(traced).toMatchObject({ floor: 26.25, value: expect.closeTo(1.06 / 1.05), passed: true });
    expect(calls).toMatchObject({ floor: 400, measured: 381 });
    expect(notes.join(" ")).toContain("middle half is 1.05–1.05");
  });

  it("has no verdict when too few windows had their load in time, and no figure when none had", () => {
    const notes: string[] = [];
    expect(verdicts(windowsOf([25, 25]), notes)).toEqual([undefined, undefined, undefined, undefined]);
    expect(notes.join(" ")).toContain("late in all but 2 of 8 windows");
    expect(costFigures(windowsOf([25, 25]), 8, [])[3]).toMatchObject({ floor: null, measured: null });
    expect(costFigures([], 8, [])[0]).toMatchObject({ floor: null, measured: null, value: null });
  });

  it("has no verdict when two relays differ", () => {
    const notes: string[] = [];
    const windows = windowsOf([25, 25, 25, 25, 25, 25], 1.08);
    expect(verdicts(windows, notes)).toEqual([undefined, undefined, undefined, undefined]);
    expect(notes.join(" ")).toContain("the machine had other work");
  });
});

describe("the report", () => {
  it("says of each figure with an aim whether it is reached", () => {
    const base = { name: "delay", unit: "ms", floor: 1, measured: 3 };
    const figures = [
      figure({ ...base, value: 2, aim: { kind: "at-most", limit: 1 } }),
      figure({ ...base, value: 0.95, aim: { kind: "at-least", limit: 0.9 } }),
      figure({ ...base, value: 2 }),
      figure({ ...base, value: null, aim: { kind: "at-most", limit: 1 } }),
    ];
    expect(figures.map(({ passed }) => passed)).toEqual([false, true, undefined, undefined]);
    const table = tableOf({
      bench: "calls",
      size: "quick",
      machine: describeMachine(),
      durationMs: 1,
      figures,
      notes: ["why"],
    });
    expect(table).toMatch(/delay +ms +1 +3 +2 +≤ 1 +FAIL/);
    expect(table).toMatch(/delay +ms +1 +3 +0\.95 +≥ 0\.9 +pass/);
    expect(table).toContain("why");
  });

  it("takes percentiles of unsorted values", () => {
    const values = Array.from({ length: 100 }, (_, i) => (i * 37) % 100);
    expect([percentile(values, 0.5), percentile(values, 0.99), percentile([], 0.5)]).toEqual([
      50,
      99,
      Number.NaN,
    ]);
  });
});

describe("a slope", () => {
  const line = (noise: (i: number) => number) =>
    Array.from({ length: 40 }, (_, i) => ({ atMs: i * 60_000, value: 50 + i / 60 + noise(i) }));

  it("is that of a line, with a margin that noise widens, and waves more", () => {
    expect(fitSlope(line(() => 0))?.perHour).toBeCloseTo(1, 6);
    const marginOf = (noise: (i: number) => number) => {
      const slope = fitSlope(line(noise));
      if (slope === null) throw new Error("no slope");
      expect(Math.abs(slope.perHour - 1)).toBeLessThan(slope.marginPerHour);
      return slope.marginPerHour;
    };
    const noisy = marginOf((i) => (i % 2 === 0 ? 1 : -1));
    expect(noisy).toBeGreaterThan(1);
    expect(marginOf((i) => (i % 4 < 2 ? 1 : -1))).toBeGreaterThan(noisy);
  });

  it("needs five points", () => {
    expect(fitSlope(line(() => 0).slice(0, 4))).toBeNull();
  });
});

describe("the check", () => {
  const figures = [
    { name: "delay", unit: "ms", floor: 2, measured: 5, value: null },
    { name: "rate", unit: "requests/s", floor: 100, measured: 40, value: null },
    { name: "alone", unit: "MB", floor: null, measured: 300, value: 300 },
  ];
  const verdictsOf = (floors: Parameters<typeof checkFloors>[1][string]) =>
    checkFloors({ bench: "calls", figures }, { calls: floors, other: { rate: { atLeast: 9 } } });

  it("compares the ratio to the floor of the same run, for times and for rates", () => {
    const kept = verdictsOf({ delay: { atMost: 2.5 }, rate: { atLeast: 0.4 } });
    expect(kept.map(({ holds }) => holds)).toEqual([true, true]);
    const broken = verdictsOf({ delay: { atMost: 2.4 }, rate: { atLeast: 0.5 } });
    expect(broken.map(sentenceOf)).toEqual([
      "FAIL  delay: 2.50 times the floor, must be ≤ 2.4",
      "FAIL  rate: 0.40 times the floor, must be ≥ 0.5",
    ]);
  });

  it("does not hold for what was not measured", () => {
    const verdicts = verdictsOf({ alone: { atMost: 1 }, unknown: { atLeast: 1 } });
    expect(verdicts.map(sentenceOf)).toEqual([
      "FAIL  alone: not measured, must be ≤ 1 times the floor",
      "FAIL  unknown: not measured, must be ≥ 1 times the floor",
    ]);
  });

  it("has floors for every bench there is", () => {
    expect(Object.keys(readFloors())).toEqual(["calls", "soak", "sandbox", "search", "log-query"]);
  });
});

describe("a measured stream", () => {
  let server: WebSocketServer;
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  /** A call whose two ends are joined by a program that does `change` to each frame. */
  async function call(change: (frame: Buffer) => Buffer | undefined) {
    server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ends = [new WebSocket(`ws://127.0.0.1:${port}`), new WebSocket(`ws://127.0.0.1:${port}`)] as const;
    await Promise.all(ends.map((end) => once(end, "open")));
    const [one, two] = [...server.clients];
    for (const [from, to] of [
      [one, two],
      [two, one],
    ]) {
      from?.on("message", (frame) => {
        const changed = Buffer.isBuffer(frame) ? change(frame) : undefined;
        if (changed) to?.send(changed);
      });
    }
    return { caller: ends[0], runtime: ends[1] };
  }

  it("counts every frame of both directions and how long it was under way", async () => {
    const figures = await streamBothWays([await call((frame) => frame)], 400);
    expect(figures.frames).toBeGreaterThanOrEqual(39);
    expect(figures).toMatchObject({ lost: 0, changed: 0 });
    expect(figures.p50Ms).toBeGreaterThan(0);
    expect(figures.maxMs).toBeGreaterThanOrEqual(figures.p99Ms);
  });

  it("notices frames that are lost or changed", async () => {
    let number = 0;
    const figures = await streamBothWays(
      [
        await call((frame) => {
          number++;
          if (number % 4 === 0) return undefined;
          if (number % 4 === 1) frame.writeUInt8(frame.readUInt8(900) ^ 1, 900);
          return frame;
        }),
      ],
      400,
    );
    expect(figures.changed).toBeGreaterThan(5);
    expect(figures.lost).toBeGreaterThan(10);
  });
});
