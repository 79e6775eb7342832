import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALL_LIMITS } from "@offhook/caller/call-report";
import { UsageError } from "@offhook/platform/server/command-line";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import wavefile from "wavefile";
import { stringify } from "yaml";
import { z } from "zod";
import { findCallee, readCommandLine } from "../../scripts/dial/options.ts";
import { Command, run } from "../support/command.ts";
import { stage } from "../support/replay.ts";

/** The caller is a process of its own: a fast call shows each moment in which one of both stands still. */
const SPEED = ["--speed", "3"];

/** Where the agent and the twins of this test are, as the environment tells. */
async function environment(): Promise<Record<string, string>> {
  const { house, voiceUrl } = await stage();
  return {
    VOICE_URL: voiceUrl,
    TWINS_URL: house.twins.baseUrl,
    SANDBOX_API_KEY: house.twins.apiKey,
  };
}

async function dial(args: string[], env?: Record<string, string>) {
  return run("dial.ts", args, env ?? (await environment()));
}

function calleeOf(args: string[]) {
  const line = readCommandLine(args);
  if (line === undefined) throw new Error("help was asked for");
  return findCallee(line, {});
}

test("without an address, and no agent here, the channel of the twins' environment file is called", async () => {
  const folder = mkdtempSync(join(tmpdir(), "offhook-channel-"));
  mkdirSync(join(folder, ".offhook"));
  const channels = [{ type: "voice_ws", url: "ws://127.0.0.1:1/way-in", protocol: "json" }];
  const twins = { base_url: "http://127.0.0.1:1", api_key: "unused-key", pid: process.pid, channels };
  writeFileSync(join(folder, ".offhook", "twins.json"), JSON.stringify(twins));
  const before = process.cwd();
  process.chdir(folder);
  try {
    const named = calleeOf(["--no-twins"]);
    expect([named.url, named.framing]).toEqual(["ws://127.0.0.1:1/way-in", "json"]);
    const given = calleeOf(["--no-twins", "--url", "ws://127.0.0.1:2/voice"]);
    expect([given.url, given.framing]).toEqual(["ws://127.0.0.1:2/voice", undefined]);
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
});

test.concurrent("--json prints one object and nothing else: scenario, passed, and of each call outcome, times, turns, tools, failures, trace", async () => {
  const { stdout, exitCode } = await dial(["two-tools", ...SPEED, "--json"]);
  const result = JSON.parse(stdout);
  expect(Object.keys(result)).toEqual(["scenario", "passed", "calls"]);
  expect(result).toMatchObject({ scenario: "two-tools", passed: true });
  const [call] = result.calls;
  expect(Object.keys(call)).toEqual([
    "outcome",
    "durationMs",
    "setupMs",
    "turns",
    "toolCalls",
    "failures",
    "trace",
  ]);
  const trace: { source: string; offset_ms: number }[] = call.trace;
  expect(new Set(trace.map(({ source }) => source))).toEqual(new Set(["agent", "vendor", "speech"]));
  const offsets = trace.map(({ offset_ms }) => offset_ms);
  expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
  expect(call).toMatchObject({ outcome: "completed", failures: [] });
  expect(call.turns.map(({ speaker }: { speaker: string }) => speaker)).toEqual([
    "assistant",
    "caller",
    "assistant",
    "caller",
    "assistant",
  ]);
  for (const turn of call.turns) {
    expect(Object.keys(turn)).toEqual(["speaker", "text", "startMs", "endMs", "responseMs"]);
    expect(turn.endMs).toBeGreaterThan(turn.startMs);
  }
  expect(call.turns[2].text).toMatch(/is on call. Incident INC-1041 is investigating/);
  expect(call.toolCalls[1]).toEqual({
    name: "incident_status",
    arguments: { id: "INC-1041" },
    result: expect.objectContaining({ id: "INC-1041" }),
  });
  expect(exitCode).toBe(0);
});

test.concurrent("the conversation is told as it happens, without colours where no terminal is", async () => {
  const { stdout, exitCode } = await dial(["ask-status", ...SPEED]);
  expect(stdout).toMatch(/caller {2}What is the status of incident one thousand and forty one\?/);
  expect(stdout).toMatch(/incident_status\(id: "INC-1041"\) \d+ ms\n.*→ \{"id":"INC-1041"/);
  expect(stdout).toMatch(/agent {3}Incident INC-1041 of checkout is investigating\. {2}\(after \d+\.\d s\)/);
  expect(stdout).toMatch(/passed {2}ask-status/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
  expect(stdout).not.toMatch(/\u001b/);
  expect(exitCode).toBe(0);
});

test("several calls at a time, each recorded in stereo", async () => {
  const folder = mkdtempSync(join(tmpdir(), "offhook-recordings-"));
  try {
    const args = ["hang-up-mid-sentence", "--calls", "3", "--concurrency", "3", "--record", folder, "--json"];
    const { stdout } = await dial([...args, ...SPEED]);
    expect(JSON.parse(stdout)).toMatchObject({ passed: true, calls: [{}, {}, {}] });
    for (const number of [1, 2, 3]) {
      const wav = new wavefile.WaveFile(readFileSync(join(folder, `hang-up-mid-sentence-${number}.wav`)));
      expect(wav.fmt).toMatchObject({ numChannels: 2, sampleRate: 24_000, bitsPerSample: 16 });
      const [caller, agent] = [0, 1].map((side) =>
        wav.getSamples(true, Int16Array).filter((_, at) => at % 2 === side),
      );
      expect(caller?.some((sample) => Math.abs(sample) > 3_000)).toBe(true);
      expect(agent?.some((sample) => Math.abs(sample) > 3_000)).toBe(true);
      const { durationMs } = JSON.parse(stdout).calls[number - 1];
      expect(caller?.length).toBe(durationMs * 24);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.concurrent("without twins the call is judged by its audio, and what could not be checked is said", async () => {
  const { VOICE_URL = "" } = await environment();
  const { stdout } = await dial(["open-incident", ...SPEED, "--no-twins", "--url", VOICE_URL]);
  expect(stdout).toMatch(/judged by their audio alone/);
  expect(stdout).toMatch(/agent {3}\(\d+\.\d s of speech\) {2}\(after/);
  expect(stdout).toMatch(/not checked: said/);
  expect(stdout).toMatch(/not checked: tool_calls/);
  expect(stdout).toMatch(/passed {2}open-incident/);
});

test("a call that fails is explained, and the exit status is 1", async () => {
  const { stdout, exitCode } = await dial(["--no-twins", "--url", "ws://127.0.0.1:9/voice"], {});
  expect(stdout).toMatch(/failed {2}ask-status/);
  expect(stdout).toMatch(/outcome: expected completed, found callee_no_answer \(.*ECONNREFUSED/);
  expect(stdout).toMatch(/npm run dev/);
  expect(exitCode).toBe(1);
});

test.each([
  ["an unknown flag", ["--loud"], /--loud[\s\S]*--concurrency N/],
  ["an unknown scenario", ["nope"], /no scenario "nope"; there are: all, ask-status/],
  [
    "twins that do not answer",
    ["--twins", "http://127.0.0.1:9", "--key", "k"],
    /no answer from the twins.*npm run dev/,
  ],
])("%s is explained on standard error, and the exit status is 2", async (_what, args, message) => {
  const { stdout, stderr, exitCode } = await dial(args, {});
  expect(stderr).toMatch(message);
  expect(stdout).toBe("");
  expect(exitCode).toBe(2);
});

test.each([
  ["a speed that is none", ["--speed", "fast"], /--speed: must be a number/],
  ["an address that is none", ["--url", "here"], /"here" is not an address/],
  ["twins without a key", ["--twins", "http://127.0.0.1:9"], /need a key: --key/],
])("%s is explained like an unknown flag", (_what, args, message) => {
  const read = () => calleeOf(args);
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
});

describe("a dial that is cut short", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "offhook-cut-short-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A dial whose call has begun, with a fault of the scenario armed. */
  async function placeFaultyCall(env: Record<string, string>): Promise<Command> {
    const file = join(folder, "faulty.yaml");
    writeFileSync(
      file,
      stringify({
        name: "faulty",
        description: "A caller who waits.",
        caller: { turns: [{ stay_silent: 60_000 }] },
        faults: { splunk: [{ effect: "hang", operation: "job.create" }] },
        brain: [{ heard: "*", say: "Yes." }],
      }),
    );
    const calling = new Command("dial.ts", [file], env);
    await calling.output(/answered after/);
    return calling;
  }

  async function armed(env: Record<string, string>) {
    const url = `${env.TWINS_URL}/c/dev/splunk/sim/faults`;
    const headers = { "x-api-key": env.SANDBOX_API_KEY ?? "" };
    return z
      .object({ faults: z.array(z.looseObject({ id: z.string(), ttl_seconds: z.number() })) })
      .parse(await (await fetch(url, { headers })).json()).faults;
  }

  test.each(["SIGINT", "SIGTERM"] as const)("by %s takes back the faults of its call", async (signal) => {
    const env = await environment();
    const calling = await placeFaultyCall(env);
    expect(await armed(env)).toHaveLength(1);
    calling.interrupt(signal);
    expect((await calling.finished()).exitCode).toBe(130);
    expect(await armed(env)).toEqual([]);
  });

  test("by SIGKILL leaves faults that end by themselves, soon after the longest call would have", async () => {
    const env = await environment();
    const calling = await placeFaultyCall(env);
    calling.interrupt("SIGKILL");
    await calling.finished();
    const [fault, ...others] = await armed(env);
    expect(others).toEqual([]);
    const longestCallSeconds = CALL_LIMITS.durationMs / 1000;
    expect(fault?.ttl_seconds).toBeGreaterThanOrEqual(longestCallSeconds);
    expect(fault?.ttl_seconds).toBeLessThan(longestCallSeconds + 300);
    const url = `${env.TWINS_URL}/c/dev/splunk/sim/faults`;
    await fetch(url, { method: "DELETE", headers: { "x-api-key": env.SANDBOX_API_KEY ?? "" } });
  });
});

test("a wrong key is said to be one", async () => {
  const { stderr, exitCode } = await dial([], { ...(await environment()), SANDBOX_API_KEY: "wrong" });
  expect(stderr).toMatch(/do not accept the key/);
  expect(exitCode).toBe(2);
});
