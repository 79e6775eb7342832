import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { familyOf, survivorsOf } from "@offhook/platform/testing/processes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Command, run } from "../support/command.ts";

const recordings = mkdtempSync(join(tmpdir(), "offhook-recordings-"));
afterAll(() => rmSync(recordings, { recursive: true }));

const FREE_PORTS = { TWINS_PORT: "0", PORT: "0" };

test("the demo starts everything, places a call, shows what came of it, and leaves nothing running", async () => {
  const demo = new Command("demo.ts", ["open-incident", "--speed", "10"], { RECORD_DIR: recordings });
  const { stdout, stderr, exitCode } = await demo.finished();
  expect(stderr).toBe("");
  // What goes on is said before anything is ready.
  expect(stdout).toMatch(
    /^the twins start; .*\n {2}reading the dataset .*\n(.*\n)* {2}\w+ works \(5 of 5\)\n✓ twins/,
  );
  expect(readdirSync(recordings).filter((file) => file.endsWith(".wav"))).toHaveLength(1);
  expect(stdout).toContain(`the agent's recordings are in ${recordings}\n`);
  expect(stdout).toMatch(/✓ twins \(engine, elasticsearch, postgres, splunk, vapi\)/);
  expect(stdout).toMatch(/caller {2}Hello, I need to open an incident/);
  expect(stdout).toMatch(/database {2}incidents\n.*id=INC-1042/);
  expect(stdout).toMatch(/engine {4}agent_tool_call open_incident/);
  expect(stdout).toMatch(/passed {2}open-incident/);
  expect(exitCode).toBe(0);
  // What guards the database reads of its end, and then ends too.
  await expect.poll(() => demo.leftSomethingRunning).toBe(false);
});

test("Ctrl-C in the middle of the demo stops all of it", async () => {
  const demo = new Command("demo.ts", ["open-incident"]);
  await demo.output(/caller {2}Hello/);
  demo.interrupt();
  expect((await demo.finished()).exitCode).toBe(130);
  // What guards the database reads of its end, and then ends too.
  await expect.poll(() => demo.leftSomethingRunning).toBe(false);
});

test("a demo that is killed leaves nothing running, its database neither", async () => {
  const demo = new Command("demo.ts", ["open-incident"]);
  await demo.output(/caller {2}Hello/);
  const family = familyOf(demo.pid);
  // Itself, the server of the database, its workers, and what watches over it.
  expect(family.length).toBeGreaterThan(3);
  demo.interrupt("SIGKILL");
  await expect.poll(() => survivorsOf(family)).toEqual([]);
});

test("a demo that nobody reads ends quietly, and leaves nothing running", async () => {
  const demo = new Command("demo.ts", ["--all"]);
  await demo.output(/ready after/);
  const family = familyOf(demo.pid);
  demo.closeOutput();
  expect((await demo.finished()).exitCode).toBe(0);
  await expect.poll(() => survivorsOf(family)).toEqual([]);
});

test("the demo explains flags it does not know", async () => {
  const { stderr, exitCode } = await run("demo.ts", ["--quick"]);
  expect(stderr).toMatch(/--quick[\s\S]*npm run demo/);
  expect(exitCode).toBe(2);
});

describe("dev", () => {
  let dev: Command;
  let banner: string;
  beforeAll(async () => {
    dev = new Command("dev.ts", [], FREE_PORTS);
    banner = await dev.output(/from elsewhere: .*\n/);
  });
  afterAll(() => dev.interrupt());

  test("prints every address and the dial line, and takes calls", async () => {
    expect(banner).toMatch(/postgres +postgres:\/\//);
    expect(banner).toMatch(/^ +dev +the twins and the agent start\n/);
    expect(banner).toMatch(/twins {2}starting engine, elasticsearch/);
    const rows =
      banner.match(/^(agent|twins|engine|elasticsearch|postgres|splunk|vapi) +\w+:\/\/.*$/gm) ?? [];
    expect(rows).toHaveLength(7);
    expect(new Set(rows.map((row) => row.search(/\w+:\/\//))).size).toBe(1);
    const args = /npm run dial -- (--url .*)\n/.exec(banner)?.[1]?.split(" ") ?? [];
    const call = await run("dial.ts", ["ask-status", "--speed", "10", ...args]);
    expect(call.stdout).toMatch(/passed {2}ask-status/);
    const log = await dev.output(/agent {2}call ended .*outcome=completed/);
    expect(log).not.toContain("/transport");
  });

  test("a second one explains the port that is in use, and stops", async () => {
    const port = /--twins http:\/\/127\.0\.0\.1:(\d+)/.exec(banner)?.[1] ?? "";
    const second = await run("dev.ts", [], { ...FREE_PORTS, TWINS_PORT: port });
    expect(second.stdout).toMatch(new RegExp(`port ${port} .*in use`));
    expect(second.exitCode).toBe(1);
  });

  test("Ctrl-C stops twins and agent", async () => {
    const [, url = "", , twins = ""] = /npm run dial -- (--url .*)\n/.exec(banner)?.[1]?.split(" ") ?? [];
    dev.interrupt();
    expect((await dev.finished()).exitCode).toBe(0);
    await expect(fetch(url.replace(/^ws/, "http").replace("/voice", "/healthz"))).rejects.toThrow();
    await expect(fetch(twins)).rejects.toThrow();
  });
});
