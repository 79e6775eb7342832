/** What every command says of itself: how it is used, what it does not know, and that Node is too old. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { listen } from "@offhook/platform/http/listen";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Command, run } from "../support/command.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const commands = {
  demo: "demo.ts",
  dev: "dev.ts",
  dial: "dial.ts",
  campaign: "campaign.ts",
  load: "load.ts",
  mcp: "mcp.ts",
  twins: "../twins/main.ts",
  agent: "../agent/main.ts",
  dataset: "dataset.ts",
  samples: "samples.ts",
  fork: "fork.ts",
  pack: "pack.ts",
  picture: "console-picture.ts",
  bench: "bench.ts",
  fuzz: "fuzz.ts",
  "check-imports": "check-imports.ts",
  compare: "../twins/elasticsearch/compare/main.ts",
  "spl-coverage": "../twins/splunk/coverage/main.ts",
};

const FREE_PORTS = { TWINS_PORT: "0", PORT: "0" };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "usage-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A fork has taken some of them away with their twins. */
const { scripts } = JSON.parse(readFileSync(path.join(PROJECT, "package.json"), "utf8"));
const present = Object.entries(commands).filter(([name]) => name in scripts);

describe.each(present)("npm run %s", (name, file) => {
  test("says with --help how it is used, and starts nothing", async () => {
    const { exitCode, stdout, stderr } = await run(file, ["--help"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(`npm run ${name}`);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  });
});

test.each([
  ["dev", ["--quick"]],
  ["agent", ["--port"]],
  ["twins", ["--port"]],
  ["samples", ["remove", "x"]],
] as const)("npm run %s does not know %j, and says how it is used", async (name, args) => {
  const { exitCode, stdout, stderr } = await run(commands[name], [...args]);
  expect([1, 2]).toContain(exitCode);
  expect(stdout).toBe("");
  expect(stderr).toContain(args[0]);
  expect(stderr).toContain(`npm run ${name}`);
  expect(stderr).not.toMatch(/\n +at /);
});

test("options are read up to --, and a wrong one is named with the usage", () => {
  const options = { quick: { type: "boolean", default: false } } as const;
  expect(readArguments("usage", options, ["a", "-h"])).toBeUndefined();
  expect(readArguments("usage", options, ["--quick", "--", "--help"])).toMatchObject({
    values: { quick: true },
    positionals: ["--help"],
  });
  const read = () => readArguments("usage", options, ["--slow"]);
  expect(read).toThrow(UsageError);
  expect(read).toThrow(/^Unknown option '--slow'\n\nusage$/);
});

describe("the programs of npm's scripts", () => {
  /** What a Node of a version answers for `npm run dial -- --help`. */
  function dialOn(version: string): Promise<{ code: number; stdout: string; stderr: string }> {
    const pretend = path.join(folder, `node-${version}.cjs`);
    const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`;
    writeFileSync(pretend, `Object.defineProperty(process, "versions", { value: ${versions} });\n`);
    const args = ["--require", pretend, "scripts/shared/start.cjs", "scripts/dial.ts", "--help"];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: PROJECT }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  }

  test.each(["9.11.2", "18.20.8", "20.18.3"])(
    "say in one sentence that Node %s is too old",
    async (version) => {
      expect(await dialOn(version)).toEqual({
        code: 1,
        stdout: "",
        stderr: `offhook needs Node 20.19 or newer, and this is ${version}: https://nodejs.org has it.\n`,
      });
    },
  );

  test("say of a program that has yet to be built how it is made", async () => {
    const args = [path.join(PROJECT, "scripts/shared/start.cjs"), "dist/agent/main.js"];
    const said = await new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
        resolve({ code: error?.code, stdout, stderr }),
      );
    });
    expect(said).toEqual({
      code: 1,
      stdout: "",
      stderr: "dist/agent/main.js does not exist: npm run build makes it.\n",
    });
  });

  test.each(["20.19.0", "22.12.0"])("run on Node %s", async (version) => {
    const { code, stdout } = await dialOn(version);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^npm run dial/)]);
  });
});

describe("a place that cannot be had is said in one sentence, with what to do", () => {
  test("the port of an agent", async () => {
    const server = createServer();
    const port = new URL(await listen(server, "127.0.0.1", 0)).port;
    const { exitCode, stderr } = await run(commands.agent, [], { PORT: port, VAPI_API_KEY: "key" });
    server.close();
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      `port ${port} on 127.0.0.1 is in use, perhaps by an agent that runs already; stop that one, or set PORT to another port (0 takes a free one)\n`,
    );
  });

  /** The folder of the user that runs it may always be written by root, so it is none here. */
  test.each([
    ["twins", []],
    ["twins", ["exec", "--", "true"]],
    ["dev", []],
  ] as const)("the folder .offhook, for npm run %s %j", async (name, args) => {
    writeFileSync(path.join(folder, ".offhook"), "");
    const command = new Command(commands[name], [...args], FREE_PORTS, undefined, folder);
    const { exitCode, stderr } = await command.finished();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^\/.*\.offhook cannot be written \(EEXIST\): .*another folder\.\n$/);
  });
});
