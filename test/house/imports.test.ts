/** The import rules of `npm run lint`, on a project of bad files: each rule speaks, and what is allowed is let pass. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Circle, refusedCircles } from "../../scripts/check-imports/circles.ts";
import { readProject } from "../../scripts/check-imports/imports.ts";
import { RULES, refusalOf, unusedExports } from "../../scripts/check-imports/rules.ts";
import { run } from "../support/command.ts";

/** The text of a file by its path. */
type Files = Record<string, string>;

const refused: Record<string, Files> = {
  agent: {
    "agent/a.ts": 'import "../twins/registry.ts";',
    "agent/b.ts": 'import "@offhook/engine";',
    "agent/c.ts": 'export * from "@offhook/platform/world/world";',
    "agent/d.ts": 'await import("@offhook/engine");',
    "agent/e.ts": 'import type { World } from "@offhook/platform/world/world";',
    "agent/f.ts": 'export const it = (world: import("@offhook/platform/world/world").World) => world;',
    "agent/g.ts": 'import "../tools/open-incident.ts";',
    "agent/h.ts": 'import "../scripts/dev.ts";',
    "agent/i.ts": 'import "../test/support/http.ts";',
    "agent/j.ts": 'import "../samples/manifest.json";',
    "agent/call/deep/a.ts": 'import "../../../tools/open-incident.ts";',
  },
  tool: {
    "tools/a.ts": 'import "./open-incident.ts";',
    "tools/b.ts": 'import "./registry.ts";',
    "tools/c.ts": 'import "../agent/config.ts";',
    "tools/d.ts": 'import "@offhook/platform/world/world";',
    "tools/e.ts": 'import "./helpers/format.ts";',
    "tools/f.ts": 'import "../scripts/dev.ts";',
  },
  "tool registry": { "tools/registry.ts": 'import "../agent/config.ts";' },
  "twins without the rest": {
    "twins/a.ts": 'import "../agent/server.ts";',
    "twins/b.ts": 'import "../scripts/dev.ts";',
    "twins/engine/a.ts": 'import "../../agent/server.ts";',
    "twins/engine/b.ts": 'import "../../tools/tool.ts";',
    "twins/engine/c.ts": 'import "../../samples/manifest.json";',
    "twins/engine/part/a.ts": 'import "../../../tools/registry.ts";',
    "twins/engine/test/a.test.ts": 'import "../../../test/support/http.ts";',
    "twins/platform/testing/a.ts": 'import "../../../scripts/shared/folders.ts";',
  },
  "package by name": {
    "twins/c.ts": 'import "./engine/index.ts";',
    "twins/engine/d.ts": 'import "../platform/world/world.ts";',
    "twins/engine/part/d.ts": 'import type { World } from "../../platform/world/world.ts";',
    "twins/engine/test/b.test.ts": 'import "../../platform/testing/http.ts";',
    "scripts/a.ts": 'import "../twins/engine/index.ts";',
    "test/a.test.ts": 'import "../twins/engine/index.ts";',
  },
  "package from outside": {
    "twins/platform/server/a.ts": 'import "../../registry.ts";',
    "twins/platform/test/a.test.ts": 'import "../../main.ts";',
  },
  "package by path inside": {
    "twins/platform/a.ts": 'import "@offhook/platform/world/world";',
    "twins/engine/test/c.test.ts": 'import "@offhook/engine";',
  },
  exports: {
    "twins/engine/e.ts": 'import "@offhook/platform/world/secret";',
    "twins/engine/f.ts": 'import "@offhook/platform/world/world.ts";',
    "scripts/b.ts": 'import "@offhook/platform";',
    "test/b.test.ts": 'import "@offhook/engine/events";',
  },
  direction: {
    "twins/platform/b.ts": 'import "@offhook/engine";',
    "twins/platform/c.ts": 'import "@offhook/log-store/sql";',
    "twins/audio/a.ts": 'import "@offhook/caller/line";',
    "twins/log-store/a.ts": 'import "@offhook/elasticsearch";',
    "twins/log-store/test/a.test.ts": 'import "@offhook/elasticsearch";',
    "twins/elasticsearch/a.ts": 'import "@offhook/splunk";',
    "twins/elasticsearch/b.ts": 'import "@offhook/engine";',
    "twins/splunk/test/a.test.ts": 'import "@offhook/elasticsearch";',
    "twins/engine/g.ts": 'import "@offhook/log-store/sql";',
    "twins/postgres/a.ts": 'await import("@offhook/audio/pcm");',
    "twins/caller/a.ts": 'import type { Call } from "@offhook/vapi";',
    "twins/brand-new/a.ts": 'import "@offhook/engine";',
    "twins/brand-new/b.ts": 'import "@offhook/log-store/sql";',
  },
  "test code": {
    "twins/d.ts": 'import "@offhook/platform/testing/http";',
    "twins/platform/server/d.ts": 'import "../testing/http.ts";',
    "twins/platform/e.ts": 'import "./bench/load.ts";',
    "twins/platform/f.ts": 'import "./test/support.ts";',
    "twins/splunk/a.ts": 'import "./coverage/main.ts";',
    "twins/elasticsearch/c.ts": 'import "./compare/main.ts";',
    "twins/engine/h.ts": 'import "@offhook/platform/testing/http";',
  },
  "own tests": {
    "scripts/c.ts": 'import "../test/support/http.ts";',
    "scripts/d.ts": 'import "@offhook/postgres/test/support";',
    "test/c.test.ts": 'import "@offhook/postgres/test/support";',
    "twins/platform/testing/b.ts": 'import "../test/support.ts";',
    "twins/platform/bench/a.ts": 'import "../test/support.ts";',
  },
  scripts: { "samples/a.ts": 'import "../scripts/samples.ts";' },
  "shortest path": {
    "agent/k.ts": 'import "./../tools/tool.ts";',
    "agent/call/a.ts": 'import "../call/b.ts";',
    "scripts/e.ts": 'import "./part/../dev.ts";',
    "tools/g.ts": 'import "./../tools/tool.ts";',
    "twins/engine/i.ts": 'import "./part/../events.ts";',
  },
};

const accepted: Record<string, Files> = {
  "the agent imports itself, the tool contract, the tool registry and packages": {
    "agent/ok.ts":
      'import "./config.ts"; import "../tools/tool.ts"; import "../tools/registry.ts"; import "ws";',
    "agent/call/deep/ok.ts":
      'import "../../config.ts"; import "../call.ts"; import "../../../tools/tool.ts";',
  },
  "a tool imports packages and the contract": {
    "tools/ok.ts": 'import "zod"; import "node:fs"; import "./tool.ts";',
  },
  "a package imports itself by path and what is below it by name": {
    "twins/elasticsearch/ok.ts": 'import "./part/a.ts"; import "@offhook/log-store/sql"; import "zod";',
    "twins/platform/world/ok.ts": 'import "../used-inside.ts";',
    "twins/splunk/part/ok.ts": 'import "../a.ts"; import "@offhook/platform/world/world";',
    "twins/vapi/ok.ts": 'import "@offhook/audio/pcm"; import "@offhook/platform/world/world";',
    "twins/caller/ok.ts": 'import "@offhook/audio/pcm";',
    "twins/brand-new/ok.ts": 'import type { World } from "@offhook/platform/world/world";',
  },
  "tests of a package import its code, its test folders, those of the packages below, and the engine": {
    "twins/splunk/test/ok.test.ts":
      'import "../a.ts"; import "./part/support.ts"; import "@offhook/platform/testing/http"; import "@offhook/engine";',
    "twins/platform/test/ok.test.ts": 'import "@offhook/engine"; import "../testing/http.ts";',
    "twins/elasticsearch/bench/ok.ts":
      'import "../testing/search.ts"; import "@offhook/platform/testing/http";',
  },
  "a file whose name is that of a test folder is none": {
    "twins/engine/ok.ts": 'import "./bench.ts";',
  },
  "the registry and the command line know the twins": {
    "twins/ok.ts":
      'import "./registry.ts"; import "@offhook/engine"; await import("@offhook/elasticsearch");',
  },
  "scripts import agent, tools, twins and benches; tests import scripts too": {
    "scripts/ok.ts":
      'import "../agent/server.ts"; import "../tools/registry.ts"; import "../twins/registry.ts"; import "@offhook/engine"; import "@offhook/platform/testing/http";',
    "test/ok.test.ts":
      'import "./support/http.ts"; import "../agent/server.ts"; import "../scripts/demo.ts";',
  },
  "makers of samples import what tests are given": {
    "samples/datasets/ok.ts": 'import "@offhook/platform/testing/http";',
  },
  "what only looks like an import": {
    "agent/ok-text.ts": 'export const it = `import("@offhook/engine")`; // import "../scripts/dev.ts"',
  },
};

const circles: Record<string, Files> = {
  "of two folders": {
    "agent/c1/a.ts": 'import "./c2/b.ts";',
    "agent/c1/c2/b.ts": 'import "../a.ts";',
  },
  "of types in two folders": {
    "agent/c3/a.ts": 'import type { B } from "./c4/b.ts";',
    "agent/c3/c4/b.ts": 'import type { A } from "../a.ts";',
  },
  "of three folders, once by import()": {
    "agent/c5/a.ts": 'export * from "./c6/b.ts";',
    "agent/c5/c6/b.ts": 'import "../c7/c.ts";',
    "agent/c5/c7/c.ts": 'export const load = () => import("../a.ts");',
  },
  "of packages": {
    "twins/engine/circle.ts": 'import "@offhook/platform/circle";',
    "twins/platform/circle.ts": 'import "@offhook/engine/circle";',
  },
  "of one folder, closed by a type": {
    "agent/c8/a.ts": 'import { b } from "./b.ts";',
    "agent/c8/b.ts": 'import type { A } from "./a.ts";',
  },
};

const acceptedCircles: Record<string, Files> = {
  "recursive descent in one folder": {
    "agent/r1/node.ts": 'import { list } from "./list.ts"; import { pair } from "./pair.ts";',
    "agent/r1/list.ts": 'import { node } from "./node.ts"; import type { Shape } from "./shape.ts";',
    "agent/r1/pair.ts": 'import { node, type Node } from "./node.ts";',
  },
  "a file that imports itself": { "agent/r2/a.ts": 'export * as own from "./a.ts";' },
};

const manifests: Record<string, string[]> = {
  audio: ["pcm"],
  "brand-new": [],
  caller: ["line"],
  elasticsearch: ["."],
  engine: [".", "circle"],
  "log-store": ["sql"],
  platform: ["world/world", "testing/http", "circle", "unused", "used-inside"],
  postgres: ["test/support"],
  splunk: ["."],
  vapi: ["."],
};

let folder: string;
/** The rules that spoke, by file. */
let spoken: Map<string, string[]>;
let found: Circle[];
let unused: string[];

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "imports-"));
  for (const [name, subpaths] of Object.entries(manifests)) {
    const exports = Object.fromEntries(
      subpaths.map((subpath) =>
        subpath === "." ? [".", "./index.ts"] : [`./${subpath}`, `./${subpath}.ts`],
      ),
    );
    write(`twins/${name}/package.json`, JSON.stringify({ name: `@offhook/${name}`, exports }));
  }
  for (const files of [refused, accepted, circles, acceptedCircles].flatMap(Object.values)) {
    for (const [file, text] of Object.entries(files)) write(file, `${text}\n`);
  }
  const project = readProject(folder);
  const { imports, workspaces } = project;
  spoken = new Map();
  for (const it of imports) {
    const rule = refusalOf(it, workspaces);
    if (rule) spoken.set(it.from, [...(spoken.get(it.from) ?? []), rule.name]);
  }
  found = refusedCircles(imports);
  unused = unusedExports(project);
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}

test("every rule is proved here", () => {
  expect(Object.keys(refused)).toEqual(RULES.map(({ name }) => name));
});

describe("refused", () => {
  test.each(Object.entries(refused))("%s", (rule, files) => {
    const expected = Object.keys(files).map((file) => [file, [rule]]);
    expect(Object.keys(files).map((file) => [file, spoken.get(file)])).toEqual(expected);
  });
});

describe("accepted", () => {
  test.each(Object.entries(accepted))("%s", (_what, files) => {
    expect(Object.keys(files).filter((file) => spoken.has(file))).toEqual([]);
  });
});

describe("refused circles", () => {
  test.each(Object.entries(circles))("%s", (_what, files) => {
    const names = Object.keys(files).sort();
    expect(found.map((circle) => circle.files)).toContainEqual(names);
  });
});

test.each(Object.entries(acceptedCircles))("accepted circle: %s", (_what, files) => {
  expect(found.filter((circle) => circle.files.some((file) => file in files))).toEqual([]);
});

test("what a package exports and nothing outside it imports is named", () => {
  expect(unused).toContain("@offhook/platform/unused");
  expect(unused).toContain("@offhook/platform/used-inside");
  expect(unused).not.toContain("@offhook/platform/world/world");
});

test("the command says where, what and which rule, and fails", async () => {
  const { exitCode, stderr } = await run("check-imports.ts", [folder]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "agent/b.ts:1 imports @offhook/engine\n  agent/ meets the twins on the network alone",
  );
  expect(stderr).toContain("  → agent/c1/c2/b.ts\n  → agent/c1/a.ts\n  No circles:");
});
