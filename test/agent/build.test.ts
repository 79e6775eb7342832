import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandInRuntime } from "../support/stand-in-runtime.ts";
import { VoiceClient } from "../support/voice-client.ts";
import { Watched } from "../support/watched.ts";

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
    await this.#watched.until(() => this.output.includes("agent listens on"), "the agent to listen");
    return /"url":"([^"]+)"/.exec(this.output)?.[1] ?? "";
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

test("the built agent takes a call with production dependencies only, and finishes it on SIGTERM", async () => {
  const agent = new AgentProcess(folder, {
    NODE_ENV: "production",
    VAPI_API_KEY: "key-of-the-build",
    VOICE_API_URL: runtime.url,
    DRAIN_TIMEOUT_MS: "100",
  });
  const url = await agent.url();
  const client = await VoiceClient.connect(url);
  const call = await runtime.call();
  await call.connected();
  expect(call.request.assistant.model.tools.map((tool) => tool.function.name)).toEqual([
    "error_trend",
    "incident_status",
    "open_incident",
    "search_logs",
    "who_is_on_call",
  ]);
  client.send(Buffer.from([1, 2]));
  await call.received(2);
  agent.child.kill("SIGTERM");
  expect((await client.gone()).code).toBe(1001);
  expect(await agent.exit()).toBe(0);
  expect(call.messages).toEqual(['{"type":"end-call"}']);
  await expect(stat(join(folder, ".offhook"))).rejects.toThrow("ENOENT");
  expect(agent.output).not.toContain("key-of-the-build");
});

test("outside production it says where it listens in .offhook/agent.json, for its owner only, until it stops", async () => {
  const agent = new AgentProcess(folder, { VAPI_API_KEY: "key", VOICE_API_URL: runtime.url });
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
