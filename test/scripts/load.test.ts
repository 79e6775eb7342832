/** The load test, against callees of known behaviour: what it measures, what it refuses to say, where it stops. */
import { CALLER_RATE, msToSamples, silence } from "@offhook/audio/pcm";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { startScriptedCallee } from "@offhook/caller/testing/scripted-callee";
import { UsageError } from "@offhook/platform/server/command-line";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Callers } from "../../scripts/load/callers.ts";
import { growthOf, sumOfMetric } from "../../scripts/load/deployment.ts";
import { TOLERANCE } from "../../scripts/load/figures.ts";
import { Histogram } from "../../scripts/load/histogram.ts";
import { readCommandLine, readOptions } from "../../scripts/load/options.ts";
import type { CallerQuestions } from "../../scripts/load/questions.ts";
import { type CallerProcess, type LoadPlan, runLoad } from "../../scripts/load/run.ts";
import { SAMPLES_FOLDER } from "../../scripts/shared/folders.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import { Command } from "../support/command.ts";

const UTTERANCE_MS = 300;
const REPLY_MS = 400;
/** A machine with much to do makes no test fail, except those of lateness. */
const PATIENT = { p99Ms: 30_000, pauseMs: 30_000 };
const LIMITS = { setupP95Ms: 30_000, responseP95Ms: 30_000, shareLate: 1, shareFailed: 0.01 };

const tone = new Int16Array(msToSamples(UTTERANCE_MS, CALLER_RATE)).fill(4_000);
/** Speech without a pause before it. */
const reply = (() => {
  const { pcm } = readSampleLibrary(SAMPLES_FOLDER).get("ask-status");
  const start = pcm.findIndex((sample) => Math.abs(sample) > 1_000);
  return pcm.subarray(start, start + msToSamples(REPLY_MS, CALLER_RATE));
})();

/** A caller who speaks at once, and hangs up after the reply. */
const plan = {
  waitForCalleeFirst: false,
  steps: [{ type: "say", utterance: { name: "tone", text: "", pcm: tone }, afterMs: 0 }] as const,
};

type Answers = {
  [Name in keyof CallerQuestions]: (
    ask: CallerQuestions[Name]["ask"],
  ) => Promise<CallerQuestions[Name]["answer"]>;
};

/** Callers in this process. @param onTake called before each report of theirs */
function callersHere(onTake: () => void = () => undefined): CallerProcess {
  let callers: Callers | undefined;
  const answers: Answers = {
    prepare: async (caller) => {
      callers = new Callers({ ...caller, plan, closeCode: 1000 });
      return null;
    },
    setLevel: async (level) => {
      callers?.setLevel(level);
      return null;
    },
    take: async () => {
      onTake();
      if (callers === undefined) throw new Error("the callers were not prepared");
      return callers.take();
    },
    finish: async () => {
      await callers?.finish();
      return null;
    },
  };
  return { ask: (name, ask) => answers[name](ask), stop: async () => undefined };
}

function loadPlan(url: string, more: Partial<LoadPlan>): LoadPlan {
  const caller = { url, framing: "binary" as const, headers: {}, scenarioFile: "" };
  return { caller, calls: 3, rate: 50, plateauSeconds: 1, tolerance: PATIENT, ...more };
}

/** Runs a test with callers in this process. */
function loadHere(given: LoadPlan, process = callersHere(), signal = new AbortController().signal) {
  return runLoad(given, { processes: [process], monitor: undefined, signal, onProgress: () => undefined });
}

describe("a callee that answers after a known time", () => {
  const DELAY_MS = 300;

  async function answeringCallee() {
    return startScriptedCallee(async (line) => {
      line.sendAudio(silence(20, CALLER_RATE));
      await line.afterCallerAudio(UTTERANCE_MS + DELAY_MS);
      line.sendAudio(reply);
      line.sendTrailingSilence();
    });
  }

  test("is measured: answered calls, set-up, response, frames; calls that end are replaced, and none fails", async () => {
    const callee = await answeringCallee();
    try {
      const { phases, interrupted } = await loadHere(loadPlan(callee.url, { plateauSeconds: 2.2 }));
      const [ramp, plateau] = phases;
      expect(interrupted).toBe(false);
      expect(ramp).toMatchObject({ phase: "ramp", calls: 3, answered: 3, failed: 0, refused: null });
      expect(ramp?.setupMs).toMatchObject({ count: 3 });
      expect(plateau).toMatchObject({ phase: "plateau", failed: 0, refused: null });
      expect(plateau?.active.max).toBe(3);
      expect(plateau?.answered).toBeGreaterThanOrEqual(1);
      expect(plateau?.ended).toBeGreaterThanOrEqual(1);
      const { count = 0, p50 = 0 } = plateau?.responseMs ?? {};
      expect(count).toBeGreaterThanOrEqual(3);
      expect(p50).toBeGreaterThanOrEqual(DELAY_MS);
      expect(p50).toBeLessThan(DELAY_MS + 300);
      expect(plateau?.lateFrames?.count).toBeGreaterThanOrEqual(3);
      expect(plateau?.load.frames).toBeGreaterThan(100);
    } finally {
      await callee.stop();
    }
  });

  test("is not given a time by a load that was late itself", async () => {
    const callee = await answeringCallee();
    try {
      const busy = callersHere(() => {
        const until = performance.now() + 200;
        while (performance.now() < until);
      });
      const { phases } = await loadHere(loadPlan(callee.url, { tolerance: TOLERANCE }), busy);
      const plateau = phases.at(-1);
      expect(plateau?.refused).toMatch(/the load itself was late \(p99 of its frames \d+ ms, limit 20 ms/);
      expect(plateau).toMatchObject({ setupMs: null, responseMs: null, lateFrames: null });
      expect(plateau?.load.frameP99Ms).toBeGreaterThan(100);
      expect(plateau?.active.max).toBe(3);
    } finally {
      await callee.stop();
    }
  });
});

describe("an agent with room for 5 calls", () => {
  let bench: AgentBench;
  let url: string;
  beforeAll(async () => {
    bench = await startAgentBench({ env: { MAX_CALLS: "5" } });
    bench.runtime.onOpen = (call) => call.sendAudio(Buffer.alloc(9_600));
    url = `${bench.agent.url.replace("http", "ws")}/voice`;
  });
  afterAll(() => bench.stop());

  test("bends at the first step beyond, and the refusals say why", async () => {
    const given = loadPlan(url, { calls: 4, knee: { maxCalls: 20, limits: LIMITS } });
    const { knee, phases } = await loadHere(given);
    expect(knee).toEqual({
      held: 5,
      bends: 7,
      because: [expect.stringMatching(/% of the calls failed \(refused: HTTP 503\), limit 1.00 %/)],
    });
    expect(phases.map(({ phase }) => phase)).toEqual([
      "ramp",
      "plateau",
      "ramp to 5",
      "5 calls",
      "ramp to 7",
      "7 calls",
    ]);
    expect(phases.at(-1)?.active.max).toBe(5);
    await bench.idle();
  });

  test("is called by processes of the command, whose calls Ctrl-C ends before it prints what it has", async () => {
    const args = ["--calls", "3", "--rate", "50", "--processes", "2", "--for", "600", "--no-twins"];
    const command = new Command("load.ts", [
      ...args,
      "--url",
      url,
      "--metrics",
      `${bench.agent.url}/metrics`,
    ]);
    onTestFinished(() => command.interrupt("SIGKILL"));
    await command.output(/3 calls at ws:.*\n *about 30 minutes of calls/);
    const before = bench.runtime.calls.length;
    await bench.runtime.until(() => bench.runtime.openSockets === 3, "three calls");
    command.interrupt();
    const { stdout, stderr, exitCode } = await command.finished();
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 130 });
    expect(stdout).toMatch(/ramp +\d+\.\d s/);
    expect(stdout).toMatch(/interrupted/);
    expect(bench.runtime.calls.length - before).toBeLessThanOrEqual(3);
    await bench.idle();
    expect(bench.runtime.openCalls).toEqual([]);
    const { body } = await bench.get("/metrics");
    expect(sumOfMetric(body, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(sumOfMetric(body, "process_cpu_seconds_total")).toBeGreaterThan(0);
  });
});

describe("what is called", () => {
  const optionsOf = (args: string[], env = {}) => {
    const line = readCommandLine(args);
    if (line === undefined) throw new Error("help was asked for");
    return readOptions(line, env);
  };

  test.each([
    [
      "another machine that the environment names",
      ["--calls", "2"],
      { VOICE_URL: "ws://agent.example/voice" },
      /agent\.example is another machine.*--url/,
    ],
    ["many calls at another machine", ["--calls", "21", "--url", "wss://agent.example"], {}, /--yes/],
    [
      "a search beyond that at another machine",
      ["--calls", "5", "--knee", "--url", "wss://agent.example"],
      {},
      /50 calls.*--yes/,
    ],
    [
      "a name that only begins like this machine's",
      ["--calls", "21", "--url", "ws://127.0.0.1.example/"],
      {},
      /--yes/,
    ],
    ["more calls than one run may have", ["--calls", "10001"], {}, /--calls: /],
    ["a search that ends before it begins", ["--calls", "9", "--knee", "--max", "8"], {}, /--max 8 is less/],
    ["an argument without an option", ["ask-status"], {}, /--scenario takes one/],
  ])("%s is refused with what to do", (_what, args, env, message) => {
    const read = () => optionsOf([...args, "--no-twins"], env);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(message);
  });

  test("another machine is called when it is named, and many times with --yes", () => {
    const url = "wss://agent.example/voice";
    expect(optionsOf(["--calls", "20", "--url", url]).callee).toMatchObject({ url, sandbox: undefined });
    expect(optionsOf(["--calls", "500", "--url", url, "--yes"])).toMatchObject({
      calls: 500,
      knee: undefined,
    });
  });
});

describe("the memory slope", () => {
  /** Noise that is the same each time: a linear congruential generator, between -1 and 1. */
  function* noise(): Generator<number, never> {
    for (let state = 1; ; ) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      yield state / 2 ** 30 - 1;
    }
  }

  test("of readings with a known growth is that growth, within its interval", () => {
    const random = noise();
    const points = Array.from({ length: 1_200 }, (_, second) => ({
      atMs: second * 1_000,
      value: 80e6 + (second / 3_600) * 50e6 + random.next().value * 1e6,
    }));
    const growth = growthOf(points);
    if (growth.kind !== "measured") throw new Error(growth.kind);
    expect(Math.abs(growth.bytesPerHour - 50e6)).toBeLessThan(growth.marginBytesPerHour);
    expect(growth.marginBytesPerHour).toBeLessThan(3e6);
  });

  test("leaves out how a process grows to its working size", () => {
    const random = noise();
    const points = Array.from({ length: 900 }, (_, second) => ({
      atMs: second * 1_000,
      value: 80e6 + Math.min(second, 100) * 1e6 + random.next().value * 1e6,
    }));
    const growth = growthOf(points);
    if (growth.kind !== "measured") throw new Error(growth.kind);
    expect(Math.abs(growth.bytesPerHour)).toBeLessThan(growth.marginBytesPerHour);
  });

  test("is not given for a minute, nor for readings of which each repeats the one before", () => {
    expect(growthOf(Array.from({ length: 60 }, (_, second) => ({ atMs: second * 1_000, value: 1 })))).toEqual(
      {
        kind: "too-short",
      },
    );
    const random = noise();
    let value = 80e6;
    const points = Array.from({ length: 900 }, (_, second) => {
      if (second % 300 === 0) value = 80e6 + random.next().value * 1e7;
      return { atMs: second * 1_000, value };
    });
    expect(growthOf(points)).toEqual({ kind: "too-few-samples" });
  });

  test("counts every process of a deployment, and no metric whose name only begins alike", () => {
    const text = [
      "# TYPE process_resident_memory_bytes gauge",
      'process_resident_memory_bytes{pid="1"} 1e6',
      'process_resident_memory_bytes{pid="2",what="a b"} 2000000',
      "process_resident_memory_bytes_max 9e9",
    ].join("\n");
    expect(sumOfMetric(text, "process_resident_memory_bytes")).toBe(3e6);
    expect(sumOfMetric(text, "process_cpu_seconds_total")).toBeUndefined();
  });
});

test("percentiles of durations are those of all processes together", () => {
  const [one, other, all] = [new Histogram(), new Histogram(), new Histogram()];
  for (let ms = 1; ms <= 100; ms++) (ms % 2 === 0 ? one : other).add(ms);
  all.merge(one.buckets());
  all.merge(other.buckets());
  expect([0.5, 0.95, 0.99, 1].map((share) => all.percentile(share))).toEqual([50, 95, 99, 100]);
  expect(all.shareAbove(60)).toBe(0.4);
});
