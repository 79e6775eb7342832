import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

interface Case {
  file: string;
  code: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

const refused: Record<string, Case[]> = {
  "agent imports no twin": [
    { file: "agent/a.ts", code: 'import "../twins/engine/index.ts";' },
    { file: "agent/call/a.ts", code: 'import "../../twins/engine/index.ts";' },
    { file: "agent/call/deep/a.ts", code: 'import "../../../twins/engine/index.ts";' },
    { file: "agent/b.ts", code: 'export * from "../twins/sandbox/start.ts";' },
    { file: "agent/c.ts", code: 'await import("../twins/sandbox/start.ts");' },
    { file: "agent/d.ts", code: 'import type { World } from "../twins/sandbox/world.ts";' },
  ],
  "agent knows tools only through the contract and the registry": [
    { file: "agent/e.ts", code: 'import "../tools/open-incident.ts";' },
    { file: "agent/call/e.ts", code: 'import "../../tools/open-incident.ts";' },
  ],
  "agent imports no scripts, no tests, no samples": [
    { file: "agent/f.ts", code: 'import "../scripts/dev.ts";' },
    { file: "agent/g.ts", code: 'import "../test/support/http.ts";' },
    { file: "agent/h.ts", code: 'import "../samples/manifest.json";' },
  ],
  "a tool imports nothing of the project but the contract": [
    { file: "tools/a.ts", code: 'import "./open-incident.ts";' },
    { file: "tools/b.ts", code: 'import "./registry.ts";' },
    { file: "tools/c.ts", code: 'import "../agent/config.ts";' },
    { file: "tools/d.ts", code: 'import "../twins/sandbox/world.ts";' },
    { file: "tools/e.ts", code: 'import "./helpers/format.ts";' },
  ],
  "the tool registry imports nothing outside tools": [
    { file: "tools/registry.ts", code: 'import "../agent/config.ts";' },
  ],
  "no twin imports another twin": [
    { file: "twins/brand-new/a.ts", code: 'import "../voice-runtime/index.ts";' },
    { file: "twins/brand-new/part/a.ts", code: 'import "../../voice-runtime/index.ts";' },
    { file: "twins/brand-new/part/deep/a.ts", code: 'import "../../../voice-runtime/index.ts";' },
    { file: "twins/brand-new/b.ts", code: 'import "../registry.ts";' },
    { file: "twins/brand-new/c.ts", code: 'await import("../engine/index.ts");' },
  ],
  "the platform knows no twin": [
    { file: "twins/sandbox/a.ts", code: 'import "../engine/index.ts";' },
    { file: "twins/sandbox/b.ts", code: 'import "../registry.ts";' },
    { file: "twins/sandbox/start.ts", code: 'import "../engine/index.ts";' },
    { file: "twins/sandbox/control/a.ts", code: 'import "../../engine/index.ts";' },
    { file: "twins/audio/a.ts", code: 'import "../caller/index.ts";' },
  ],
  "twins import neither agent nor tools": [
    { file: "twins/a.ts", code: 'import "../agent/server.ts";' },
    { file: "twins/engine/a.ts", code: 'import "../../agent/server.ts";' },
    { file: "twins/engine/b.ts", code: 'import "../../tools/tool.ts";' },
    { file: "twins/engine/part/a.ts", code: 'import "../../../tools/registry.ts";' },
  ],
  "nothing imports scripts or test": [
    { file: "twins/b.ts", code: 'import "../scripts/dev.ts";' },
    { file: "twins/engine/c.ts", code: 'import "../../test/support/http.ts";' },
    { file: "tools/f.ts", code: 'import "../scripts/dev.ts";' },
    { file: "scripts/a.ts", code: 'import "../test/support/http.ts";' },
    { file: "scripts/part/a.ts", code: 'import "../../test/support/http.ts";' },
  ],
  "a detour does not get around the rules": [
    { file: "twins/engine/d.ts", code: 'import "../sandbox/../caller/index.ts";' },
    { file: "twins/engine/e.ts", code: 'import "./../caller/index.ts";' },
    { file: "twins/engine/part/d.ts", code: 'import "../../sandbox/../caller/index.ts";' },
    { file: "twins/engine/part/e.ts", code: 'import "../other/../../../agent/server.ts";' },
    { file: "agent/call/i.ts", code: 'import "../pcm/../../tools/open-incident.ts";' },
    { file: "agent/i.ts", code: 'import "./call/../../twins/main.ts";' },
    { file: "tools/g.ts", code: 'import "./tool.ts/../registry.ts";' },
  ],
};

const accepted: Record<string, Case[]> = {
  "agent imports itself, the tool contract and the tool registry": [
    {
      file: "agent/ok.ts",
      code: 'import "./config.ts";\nimport "../tools/tool.ts";\nimport "../tools/registry.ts";',
    },
    {
      file: "agent/call/ok.ts",
      code: 'import "../config.ts";\nimport "../../tools/tool.ts";\nimport "./call.ts";',
    },
    {
      file: "agent/call/deep/ok.ts",
      code: 'import "../../config.ts";\nimport "../../../tools/registry.ts";',
    },
  ],
  "a tool imports packages and the contract": [
    { file: "tools/ok.ts", code: 'import "zod";\nimport "node:fs";\nimport "./tool.ts";' },
  ],
  "a twin imports itself, the platform, the datasets and the audio helpers": [
    {
      file: "twins/brand-new/ok.ts",
      code: 'import "./part/a.ts";\nimport "../sandbox/twin.ts";\nimport "../datasets/store.ts";\nimport "../audio/pcm.ts";',
    },
    {
      file: "twins/brand-new/part/ok.ts",
      code: 'import "../a.ts";\nimport "../../sandbox/control/serve.ts";\nimport "../../audio/pcm.ts";',
    },
    {
      file: "twins/brand-new/part/deep/ok.ts",
      code: 'import "../../a.ts";\nimport "../../../sandbox/twin.ts";',
    },
  ],
  "the twin registry and the command line know the twins": [
    { file: "twins/ok.ts", code: 'import "./engine/index.ts";\nimport "./sandbox/start.ts";' },
  ],
  "scripts import agent, tools and twins; tests import all": [
    {
      file: "scripts/ok.ts",
      code: 'import "../agent/server.ts";\nimport "../twins/sandbox/start.ts";\nimport "../tools/registry.ts";',
    },
    {
      file: "test/twins/ok.ts",
      code: 'import "../support/http.ts";\nimport "../../agent/server.ts";\nimport "../../scripts/demo.ts";',
    },
  ],
};

let folder: string;
/** Files in which the rule spoke. */
let complaints: Set<string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "imports-"));
  for (const name of ["twins", "test/house"]) await mkdir(path.join(folder, name), { recursive: true });
  for (const name of ["biome.json", "twins/machine-time.grit", "test/house/abort-signals.grit"]) {
    await copyFile(path.join(root, name), path.join(folder, name));
  }
  for (const { file, code } of [...Object.values(refused), ...Object.values(accepted)].flat()) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), `${code}\n`);
  }
  complaints = await lint(folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the import rules of the project's own configuration over a folder. */
async function lint(cwd: string): Promise<Set<string>> {
  const biome = path.join(root, "node_modules/@biomejs/biome/bin/biome");
  const rule = "--only=style/noRestrictedImports";
  const args = [biome, "lint", rule, "--vcs-enabled=false", "--max-diagnostics=none", "--reporter=json", "."];
  const run = promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 16 * 1024 * 1024 });
  const { stdout } = await run.catch((failure: { stdout: string }) => failure);
  const report = JSON.parse(stdout);
  return new Set(
    report.diagnostics.map((diagnostic: { location: { path: string } }) => diagnostic.location.path),
  );
}

describe("refused", () => {
  test.each(Object.entries(refused))("%s", (_rule, cases) => {
    expect(cases.filter(({ file }) => !complaints.has(file))).toEqual([]);
  });
});

describe("accepted", () => {
  test.each(Object.entries(accepted))("%s", (_rule, cases) => {
    expect(cases.filter(({ file }) => complaints.has(file))).toEqual([]);
  });
});
