import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Watched } from "@offhook/platform/testing/watched";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadTools } from "../../tools/registry.ts";
import { type StandInCall, StandInRuntime } from "../support/stand-in-runtime.ts";
import { VoiceClient } from "../support/voice-client.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** The agent as a process of its own, as an operator runs it. */
class AgentProcess {
  readonly child: ChildProcess;
  output = "";
  readonly #watched = new Watched();

  constructor(folder: string, env: Record<string, string>) {
    this.child = spawn(process.execPath, ["dist/agent/main.js"], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: "0", ...env },
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#watched.changed();
      });
    }
  }

  async url(): Promise<string> {
    await this.says("agent listens on");
    return /"url":"([^"]+)"/.exec(this.output)?.[1] ?? "";
  }

  async says(text: string): Promise<void> {
    await this.#watched.until(() => this.output.includes(text), `the agent to say "${text}"`);
  }

  /** Repeats a signal until the agent takes it for a second one. @returns how long after the first that was */
  async insist(signal: NodeJS.Signals): Promise<number> {
    this.child.kill(signal);
    await this.says("agent stops");
    const repeated = () => {
      this.child.kill(signal);
      return this.output;
    };
    await expect.poll(repeated).toContain("ended at once");
    return this.#timeOf("ended at once") - this.#timeOf("agent stops");
  }

  #timeOf(text: string): number {
    const line = this.output.split("\n").find((one) => one.includes(text)) ?? "";
    return Date.parse(JSON.parse(line).time);
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }
}

let folder: string;
let runtime: StandInRuntime;
beforeAll(async () => {
  // Built and laid out as in the image: the build, and the production dependencies alone.
  folder = await realpath(await mkdtemp(join(tmpdir(), "offhook-build-")));
  await run(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    join(root, "agent/tsconfig.json"),
    "--outDir",
    join(folder, "dist"),
  ]);
  const { stdout } = await run("npm", ["ls", "--omit=dev", "--all", "--parseable"], { cwd: root });
  const packages = stdout.split("\n").filter((path) => path.includes("node_modules"));
  expect(packages.length).toBeGreaterThan(20);
  for (const path of packages) {
    await cp(path, join(folder, relative(root, path)), {
      recursive: true,
      filter: (source) => !relative(path, source).split("/").includes("node_modules"),
    });
  }
  await cp(join(root, "package.json"), join(folder, "package.json"));
  runtime = await StandInRuntime.start();
});
afterAll(async () => {
  await runtime.stop();
  await rm(folder, { recursive: true });
});

const KEY = "key-of-the-build";

function startAgent(env: Record<string, string> = {}): AgentProcess {
  return new AgentProcess(folder, { VAPI_API_KEY: KEY, VOICE_API_URL: runtime.url, ...env });
}

/** An agent with a call that the runtime has answered. */
async function startOnCall(env: Record<string, string>) {
  const agent = startAgent(env);
  const url = await agent.url();
  const earlier = runtime.calls.length;
  const client = await VoiceClient.connect(url);
  const call = await runtime.call(earlier);
  await call.connected();
  return { agent, url, client, call };
}

test("the built agent takes a call with production dependencies only, and finishes it on SIGTERM", async () => {
  const { agent, client, call } = await startOnCall({ NODE_ENV: "production", DRAIN_TIMEOUT_MS: "100" });
  const tools = await loadTools();
  expect(call.request.assistant.model.tools.map((tool) => tool.function.name)).toEqual(
    tools.all().map(({ name }) => name),
  );
  client.send(Buffer.from([1, 2]));
  await call.received(2);
  agent.child.kill("SIGTERM");
  expect((await client.gone()).code).toBe(1001);
  expect(await agent.exit()).toBe(0);
  expect(call.messages).toEqual(['{"type":"end-call"}']);
  await expect(stat(join(folder, ".offhook"))).rejects.toThrow("ENOENT");
  expect(agent.output).not.toContain(KEY);
});

test("a second SIGTERM ends the calls at the runtime before the agent exits", async () => {
  const {
    agent,
    url,
    client: talking,
    call: talkingCall,
  } = await startOnCall({ NODE_ENV: "production", DRAIN_TIMEOUT_MS: "3600000" });
  runtime.upgrade = { kind: "hang" };
  const earlier = runtime.calls.length;
  await VoiceClient.connect(url);
  const dialledCall = await runtime.call(earlier);
  dialledCall.plan.deletes.push({ kind: "answer", status: 500 });
  // npm and the terminal both send the first: what comes right after it is no second one.
  expect(await agent.insist("SIGTERM")).toBeGreaterThan(450);
  await talking.gone();
  expect(await agent.exit()).toBe(0);
  expect(talkingCall.messages).toEqual(['{"type":"end-call"}']);
  expect(dialledCall.deleted).toBe(true);
  runtime.upgrade = { kind: "accept" };
});

test("after a second SIGTERM a call that the runtime does not end is an error line, and the agent exits", async () => {
  const { agent, client, call } = await startOnCall({
    NODE_ENV: "production",
    DRAIN_TIMEOUT_MS: "3600000",
  });
  call.plan.deletes.push({ kind: "hang" }, { kind: "hang" }, { kind: "hang" });
  call.rawSocket.pause();
  await agent.insist("SIGTERM");
  await client.gone();
  expect(await agent.exit()).toBe(0);
  expect(agent.output).toMatch(new RegExp(`"level":50.*"runtimeCallId":"${call.id}".*could not be ended`));
  call.rawSocket.destroy();
});

test("outside production it says where it listens in .offhook/agent.json, for its owner only, until it stops", async () => {
  const agent = startAgent();
  const url = await agent.url();
  const locator = join(folder, ".offhook/agent.json");
  expect(JSON.parse(await readFile(locator, "utf8"))).toEqual({ url, pid: agent.child.pid });
  expect((await stat(locator)).mode & 0o777).toBe(0o600);
  agent.child.kill("SIGINT");
  expect(await agent.exit()).toBe(0);
  await expect(stat(locator)).rejects.toThrow("ENOENT");
});

test("without its key it does not start, and says which variable is missing", async () => {
  const agent = new AgentProcess(folder, {});
  expect(await agent.exit()).toBe(1);
  expect(agent.output).toMatch(/VAPI_API_KEY is required/);
  expect(agent.output).not.toMatch(/ at .*\.js/);
});

/** A tool that fails where nobody waits for it, in the way it is asked to. */
const STRAY_TOOL = `
import { z } from "zod";
export default {
  name: "stray",
  description: "Fails behind its caller's back.",
  parameters: z.object({ how: z.string() }),
  async run({ how }) {
    if (how === "at once") void Promise.reject(new Error("stray: " + how));
    if (how === "later") setTimeout(() => Promise.reject(new Error("stray: " + how)), 5);
    if (how === "exception") setTimeout(() => { throw new Error("stray: " + how); }, 5);
    return "done";
  },
};
`;

describe("an error that no code caught", () => {
  let agent: AgentProcess;
  let url: string;
  let client: VoiceClient;
  let call: StandInCall;
  beforeAll(async () => {
    await writeFile(join(folder, "dist/tools/stray.js"), STRAY_TOOL);
  });
  afterAll(() => rm(join(folder, "dist/tools/stray.js")));
  beforeEach(async () => {
    ({ agent, url, client, call } = await startOnCall({ DRAIN_TIMEOUT_MS: "60000" }));
  });
  afterEach(() => agent.child.kill("SIGKILL"));

  async function runStray(how: string): Promise<void> {
    const body = { message: { toolCallList: [{ id: `id-${how}`, name: "stray", arguments: { how } }] } };
    const response = await fetch(`${url}/tool`, {
      method: "POST",
      headers: { ...call.webhook.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(await response.json()).toEqual({ results: [{ toolCallId: `id-${how}`, result: '"done"' }] });
  }

  test("a tool's rejection is logged as that tool's call's, and its call and the agent go on", async () => {
    for (const how of ["at once", "later"]) {
      await runStray(how);
      await agent.says(`"toolCallId":"id-${how}","reason":"stray: [argument]"`);
    }
    const line = agent.output.split("\n").find((one) => one.includes("id-later") && one.includes("stray:"));
    expect(JSON.parse(line ?? "")).toMatchObject({ level: 50, tool: "stray", call: expect.any(String) });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('offhook_stray_errors_total{kind="rejection",tool="stray"} 2\n');
    client.send(Buffer.from([1, 2]));
    await call.received(2);
    client.hangUp();
    await call.gone();
    agent.child.kill("SIGTERM");
    expect(await agent.exit()).toBe(0);
  });

  test("an exception stops the agent as a signal does: its call goes on to its end, and the exit status is 1", async () => {
    await runStray("exception");
    await agent.says("agent stops");
    expect(agent.output).toContain('"tool":"stray","toolCallId":"id-exception"');
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    client.send(Buffer.from([1, 2]));
    await call.received(2);
    client.hangUp();
    await call.gone();
    expect(await agent.exit()).toBe(1);
  });

  test("a second signal ends the running calls properly instead of waiting for them", async () => {
    await agent.insist("SIGTERM");
    expect((await client.gone()).code).toBe(1001);
    expect(await agent.exit()).toBe(0);
    expect(call.messages).toEqual(['{"type":"end-call"}']);
  });
});

describe("of two workers", () => {
  test("an exception ends its worker alone: its call goes on to its end, and another worker has its place", async () => {
    await writeFile(join(folder, "dist/tools/stray.js"), STRAY_TOOL);
    const { agent, url, client, call } = await startOnCall({ AGENT_WORKERS: "2", DRAIN_TIMEOUT_MS: "60000" });
    const { "x-offhook-worker": worker = "" } = call.webhook.headers;
    const body = { message: { toolCallList: [{ id: "1", name: "stray", arguments: { how: "exception" } }] } };
    await fetch(`${url}/tool`, { method: "POST", headers: call.webhook.headers, body: JSON.stringify(body) });
    await agent.says(`"worker":"${worker.replace(".1", ".2")}"`);
    await agent.says("a worker listens");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    client.send(Buffer.from([1, 2]));
    await call.received(2);
    client.hangUp();
    await call.gone();
    await agent.says('"msg":"a worker is gone');
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('offhook_stray_errors_total{kind="exception",tool="stray"} 1\n');
    expect(metrics).toContain('offhook_calls_total{outcome="completed"} 1\n');
    agent.child.kill("SIGTERM");
    expect(await agent.exit()).toBe(0);
    await rm(join(folder, "dist/tools/stray.js"));
  });

  test("a second SIGTERM ends the calls of all", async () => {
    const { agent, url, client, call } = await startOnCall({
      AGENT_WORKERS: "2",
      DRAIN_TIMEOUT_MS: "3600000",
    });
    const earlier = runtime.calls.length;
    const other = await VoiceClient.connect(url);
    const otherCall = await runtime.call(earlier);
    await otherCall.connected();
    expect(otherCall.webhook.headers["x-offhook-worker"]).not.toBe(call.webhook.headers["x-offhook-worker"]);
    await agent.insist("SIGTERM");
    for (const one of [client, other]) expect((await one.gone()).code).toBe(1001);
    expect(await agent.exit()).toBe(0);
    for (const one of [call, otherCall]) expect(one.messages).toEqual(['{"type":"end-call"}']);
  });

  test("what keeps a worker from starting is said once, as that of a single process", async () => {
    const first = startAgent();
    const { port } = new URL(await first.url());
    const agent = startAgent({ AGENT_WORKERS: "2", PORT: port });
    expect(await agent.exit()).toBe(1);
    expect(agent.output).toMatch(/^port \d+ on 127\.0\.0\.1 is in use/m);
    expect(agent.output.match(/is in use/g)).toHaveLength(1);
    first.child.kill("SIGKILL");
  });

  test("the primary process is killed: its workers let their calls finish, and end", async () => {
    const { agent, client, call } = await startOnCall({ AGENT_WORKERS: "2", DRAIN_TIMEOUT_MS: "60000" });
    agent.child.kill("SIGKILL");
    await agent.says("the primary process is gone");
    client.send(Buffer.from([1, 2]));
    await call.received(2);
    client.hangUp();
    await call.gone();
    expect(call.messages).toEqual(['{"type":"end-call"}']);
    // Their output ends with the last of them.
    await once(agent.child, "close");
  });
});

test("a load balancer can see the agent go: in production /readyz fails a while before the agent stops listening", async () => {
  const agent = startAgent({ NODE_ENV: "production", SHUTDOWN_DELAY_MS: "60000" });
  const url = await agent.url();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  agent.child.kill("SIGTERM");
  await agent.says("agent stops");
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await agent.insist("SIGTERM");
  expect(await agent.exit()).toBe(0);
});
