import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { familyOf, survivorsOf } from "@offhook/platform/testing/processes";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { PROJECT } from "../../scripts/shared/folders.ts";
import { Command, makeFolder } from "../support/command.ts";
import { StandInRuntime } from "../support/stand-in-runtime.ts";
import { VoiceClient } from "../support/voice-client.ts";

const FREE_PORTS = { TWINS_PORT: "0", PORT: "0" };
const READY = /from elsewhere: .*\n/;

const started: Command[] = [];

afterEach(async () => {
  for (const command of started.splice(0).reverse()) {
    command.interrupt("SIGTERM");
    await command.finished();
  }
});

function start(file: string, args: string[] = [], env: Record<string, string> = {}): Command {
  const command = new Command(file, args, env);
  started.push(command);
  return command;
}

/** `npm run dial` in the folder where a dev runs. */
function dial(scenario: string, { folder }: Command, file = "dial.ts"): Command {
  return new Command(file, [scenario, "--speed", "10"], {}, undefined, folder);
}

/** What a part of a dev says of itself in its folder. */
function locatorOf(name: "agent" | "twins", { folder }: Command) {
  return JSON.parse(readFileSync(join(folder, ".offhook", `${name}.json`), "utf8"));
}

async function expectNoneLeft(pids: readonly number[]): Promise<void> {
  await expect.poll(() => survivorsOf(pids)).toEqual([]);
}

describe("dev", () => {
  test("starts again what is killed, and says so; dial waits for it; nothing outlives a dev that is killed", async () => {
    const dev = start("dev.ts", [], FREE_PORTS);
    await dev.output(READY);

    process.kill(locatorOf("agent", dev).pid, "SIGKILL");
    await dev.output(/agent {2}ended \(SIGKILL\); starting again in 0\.25 s\n[\s\S]*agent listens on/);

    process.kill(locatorOf("twins", dev).pid, "SIGKILL");
    await dev.output(/twins {2}ended \(SIGKILL\); starting again in 0\.25 s; lost: rows, datasets/);
    const { stdout, stderr, exitCode } = await dial("ask-status", dev).finished();
    expect(stdout).toMatch(/^waiting for npm run dev: the twins ended \(SIGKILL\)/);
    expect([stderr, exitCode]).toEqual(["", 0]);

    const family = familyOf(dev.pid);
    // Itself, twins, agent, Postgres and what guards them.
    expect(family.length).toBeGreaterThan(5);
    dev.interrupt("SIGKILL");
    await expectNoneLeft(family);
  });

  test.each([
    ["while it runs", (dev: Command) => process.kill(locatorOf("agent", dev).pid, "SIGKILL")],
    ["while it stops", (dev: Command) => dev.interrupt()],
  ])("ends, and all it started, when nobody reads its output any more: %s", async (_when, saySomething) => {
    const dev = start("dev.ts", [], FREE_PORTS);
    await dev.output(READY);
    const family = familyOf(dev.pid);
    dev.closeOutput();
    saySomething(dev);
    expect((await dev.finished()).exitCode).toBe(0);
    await expectNoneLeft(family);
  });

  test("lets the agent try for ten seconds to end a call that the runtime does not end", async () => {
    const runtime = await StandInRuntime.start();
    try {
      runtime.planOf = () => ({ deletes: Array.from({ length: 5 }, () => ({ kind: "hang" })) });
      const dev = start("dev.ts", [], {
        ...FREE_PORTS,
        VAPI_API_KEY: "key-of-the-test",
        VOICE_API_URL: runtime.url,
      });
      await dev.output(READY);
      await VoiceClient.connect(locatorOf("agent", dev).url);
      const call = await runtime.call();
      await call.connected();
      call.rawSocket.pause();
      dev.interrupt();
      const { stdout, exitCode } = await dev.finished();
      // Errors come through another pipe than the rest, so either may be read first.
      expect(stdout).toContain("a call could not be ended");
      expect(stdout).toContain("agent stopped");
      expect(exitCode).toBe(0);
      call.rawSocket.destroy();
    } finally {
      await runtime.stop();
    }
  });

  test("ends, and all it started, when the npm that runs it is killed", async () => {
    const folder = makeFolder();
    try {
      const program = `node --import ${import.meta.resolve("tsx")} ${join(PROJECT, "scripts", "dev.ts")}`;
      writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { dev: program } }));
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...FREE_PORTS };
      const npm = spawn("npm", ["run", "dev"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
      for await (const line of createInterface({ input: npm.stdout })) {
        if (line.startsWith("from elsewhere")) break;
      }
      npm.stdout.resume();
      const family = familyOf(npm.pid ?? 0);
      expect(family.length).toBeGreaterThan(6);
      npm.kill("SIGKILL");
      await expectNoneLeft(family);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("changed files", () => {
  let copy: string;
  afterEach(() => rmSync(copy, { recursive: true }));

  /** A project whose files may be edited. */
  function copyProject(): void {
    copy = mkdtempSync(join(tmpdir(), "offhook-copy-"));
    for (const part of ["agent", "tools", "twins", "scripts", "samples", "package.json", "tsconfig.json"]) {
      cpSync(join(PROJECT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(PROJECT, "node_modules"), join(copy, "node_modules"));
  }

  function edit(file: string, change: (text: string) => string): void {
    writeFileSync(join(copy, file), change(readFileSync(join(copy, file), "utf8")));
  }

  /** Edits a file so that whatever loads it is not ready before the gate is opened. @returns opens the gate */
  function closeGate(file: string): () => void {
    const gate = join(copy, `${basename(file)}.open`);
    const waiting = `
import { existsSync, watch } from "node:fs";
await new Promise<void>((opened) => {
  const watcher = watch(${JSON.stringify(copy)}, pass);
  pass();
  function pass() {
    if (!existsSync(${JSON.stringify(gate)})) return;
    watcher.close();
    opened();
  }
});
`;
    edit(file, (text) => text + waiting);
    return () => writeFileSync(gate, "");
  }

  test("restart what they belong to, a scenario nothing; what is lost is said; dial waits", async () => {
    copyProject();
    const dev = start(join(copy, "scripts/dev.ts"), [], FREE_PORTS);
    await dev.output(READY);
    const { base_url, api_key } = locatorOf("twins", dev);
    const headers = { "x-api-key": api_key, "content-type": "application/json" };
    const rows = { services: [{ name: "billing", description: "Invoices" }] };
    const added = await fetch(`${base_url}/c/dev/postgres/sim/data`, {
      method: "POST",
      headers,
      body: JSON.stringify({ data: rows }),
    });
    expect(added.status).toBe(201);
    const made = await fetch(`${base_url}/sandboxes`, { method: "POST", headers, body: "{}" });
    const { id } = z.object({ id: z.string() }).parse(await made.json());

    // Attributes are no change: what is told next is the scenario.
    utimesSync(join(copy, "twins/main.ts"), new Date(), new Date());
    utimesSync(join(copy, "agent/main.ts"), new Date(), new Date());
    const { agent, twins } = { agent: locatorOf("agent", dev).pid, twins: locatorOf("twins", dev).pid };
    // What runs in a browser is asked for by the browser.
    mkdirSync(join(copy, "twins/engine/page"));
    writeFileSync(join(copy, "twins/engine/page/part.ts"), "export const part = 1;\n");
    edit("samples/scenarios/ask-status.yaml", (text) =>
      text.replaceAll("You are welcome", "Always at your service"),
    );
    await dev.output(/ask-status\.yaml changed: the next call has it, nothing is restarted/);
    const first = await dial("ask-status", dev, join(copy, "scripts/dial.ts")).finished();
    expect(first.stdout).toMatch(/Always at your service[\s\S]*passed {2}ask-status/);
    expect([locatorOf("agent", dev).pid, locatorOf("twins", dev).pid]).toEqual([agent, twins]);

    const openAgent = closeGate("tools/registry.ts");
    await dev.output(/agent {2}tools\/registry\.ts changed: restarting/);
    const second = dial("ask-status", dev, join(copy, "scripts/dial.ts"));
    await second.output(/^waiting for npm run dev: /);
    openAgent();
    expect((await second.finished()).stdout).toMatch(/passed {2}ask-status/);
    expect(locatorOf("twins", dev).pid).toBe(twins);

    const openTwins = closeGate("twins/registry.ts");
    const log = await dev.output(/lost with the restart: .*\n/);
    expect(log).toMatch(/twins\/registry\.ts changed: restarting/);
    const lost = /lost with the restart: (.*)\n/.exec(log)?.[1];
    expect(lost).toContain("changes in postgres (services)");
    expect(lost).toContain(`sandbox ${id}`);
    const third = dial("ask-status", dev, join(copy, "scripts/dial.ts"));
    await third.output(/^waiting for npm run dev: the twins restart: /);
    openTwins();
    expect((await third.finished()).stdout).toMatch(/passed {2}ask-status/);
    expect(log).not.toMatch(/(main|part)\.ts changed/);
  });
});
