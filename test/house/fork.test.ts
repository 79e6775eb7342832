/** Forks in copies: whoever takes twins away has a project that stands, with what a forker runs first. */
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PROJECT } from "../../scripts/shared/folders.ts";
import { readPackages } from "../../scripts/shared/packages.ts";

/** Every way there is, each with all that a forker runs; else one of them, and of some of the others lint and types. */
const ALL_FORKS = process.env.FORKS === "all";

/** The project as somebody has cloned it; nothing changes it. */
let clone: string;
/** A fork of its own for each test that makes one. */
let copy: string;
beforeAll(async () => {
  clone = mkdtempSync(path.join(tmpdir(), "offhook-clone-"));
  copy = clone;
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: PROJECT,
    encoding: "utf8",
  });
  for (const file of files.split("\0")) {
    if (file === "" || !existsSync(path.join(PROJECT, file))) continue;
    mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
    cpSync(path.join(PROJECT, file), path.join(copy, file));
  }
  git("init", "--quiet");
  commit("the clone");
  installLinks();
  if (!ALL_FORKS) await expectToPass("npx", ...TYPES);
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** For tests that change files. */
function useCopy(): void {
  beforeEach(() => {
    copy = mkdtempSync(path.join(tmpdir(), "offhook-fork-"));
    cpSync(clone, copy, { recursive: true, filter: (file) => file !== path.join(clone, "node_modules") });
    installLinks();
  });
  afterEach(() => {
    rmSync(copy, { recursive: true, force: true });
    copy = clone;
  });
}

/** The dependencies of this project, and the copy's own packages. */
function installLinks(): void {
  const [from, to] = [path.join(PROJECT, "node_modules"), path.join(copy, "node_modules")];
  mkdirSync(path.join(to, "@offhook"), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== "@offhook") symlinkSync(path.join(from, name), path.join(to, name));
  }
  for (const { id, folder } of readPackages(copy)) {
    symlinkSync(path.join(copy, folder), path.join(to, "@offhook", id));
  }
}

/** What git says is changed in the copy. */
const changes = () => git("status", "--porcelain", "--", ":!node_modules");

/** Files of the copy that are new or not as they were. */
function changedFiles(): string[] {
  const tracked = git("diff", "--name-only", "-z", "--diff-filter=AMR").split("\0");
  const added = git("ls-files", "--others", "--exclude-standard", "-z").split("\0");
  return [...tracked, ...added].filter((file) => file !== "" && !file.startsWith("node_modules"));
}

const git = (...args: string[]) => execFileSync("git", args, { cwd: copy, encoding: "utf8" });

function commit(subject: string): void {
  git("add", "--all");
  git("-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", subject);
}

interface Ran {
  exitCode: number;
  output: string;
}

async function run(command: string, ...args: string[]): Promise<Ran> {
  // A fork knows nothing of the run that this test belongs to.
  const { PATH, HOME, TMPDIR } = process.env;
  const options = { cwd: copy, env: { PATH, HOME, TMPDIR, CI: "1" }, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return { exitCode: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, output: stdout + stderr };
  }
}

const fork = (...args: string[]) => run("npm", "run", "--silent", "fork", "--", ...args);

async function expectToPass(command: string, ...args: string[]): Promise<void> {
  const { exitCode, output } = await run(command, ...args);
  expect(exitCode, `${command} ${args.join(" ")}\n${output.slice(-4000)}`).toBe(0);
}

/** What is left of the clone's files is not checked again, as far as nothing that they import has changed. */
const TYPES = ["tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", ".offhook/types.tsbuildinfo"];

/** The script `typecheck`, with the memory of the clone's. */
async function expectTypesToPass(): Promise<void> {
  await expectToPass("npx", ...TYPES);
  const packages = scriptsOf().typecheck?.split("tsc --noEmit && ")[1];
  if (packages !== undefined) await expectToPass("sh", "-c", packages);
}

const scriptsOf = (): Record<string, string> =>
  JSON.parse(readFileSync(path.join(copy, "package.json"), "utf8")).scripts;

/**
 * Of the copy's tests those of what the fork changed: its tools, and a call of every scenario; the agent is as it was.
 * With FORKS=all every one.
 */
function changedTests(): string[] {
  if (ALL_FORKS) return [];
  const unchanged = ["agent", "test/agent", "test/support", "tools/registry.ts", "tools/tool.ts"];
  expect(git("diff", "--name-only", "--diff-filter=AMR", "--", ...unchanged)).toBe("");
  return ["test/tools", "test/scenarios/every-scenario"];
}

/** Of a whole fork: it installs, calls and tests. */
const WHOLE_LIMIT_MS = (ALL_FORKS ? 30 : 10) * 60_000;

const removable = readPackages(PROJECT).flatMap(({ id, isRemovable }) => (isRemovable ? [id] : []));

describe("a fork", () => {
  useCopy();
  /** The fork that has most to take away and still calls. */
  const both = ["elasticsearch", "splunk"];
  const ways = [...removable, both.join(), "twins"];
  test.each(ALL_FORKS ? ways : [both.join()])(
    "without %s installs, passes lint, types and tests, and has its call",
    async (without) => {
      const { exitCode, output } = await fork("--name", "pizza-line", "--without", without);
      expect(exitCode, output).toBe(0);
      rmSync(path.join(copy, "node_modules"), { recursive: true });
      await expectToPass("npm", "ci", "--ignore-scripts", "--prefer-offline");
      await expectToPass("npm", "run", "lint");
      await expectToPass("npm", "run", "typecheck");
      const { demo } = scriptsOf();
      if (demo !== undefined) await expectToPass("npm", "run", "demo", "--", "--speed", "10");
      await expectToPass("npm", "test", "--", "--project", "app", ...changedTests());
      if (ALL_FORKS) await expectToPass("npm", "test", "--", "--project", "house");
      for (const id of without === "twins" ? ["platform"] : without.split(",")) {
        expect(existsSync(path.join(copy, "twins", id))).toBe(false);
      }
    },
    WHOLE_LIMIT_MS,
  );

  test.skipIf(ALL_FORKS).each([...removable.filter((id) => !both.includes(id)), "twins"])(
    "without %s passes lint and types",
    async (without) => {
      const { exitCode, output } = await fork("--without", without);
      expect(exitCode, output).toBe(0);
      await Promise.all([
        // Files that are as they were have passed the linter here.
        expectToPass("npx", "biome", "check", "--no-errors-on-unmatched", ...changedFiles()),
        expectToPass("npm", "run", "check-imports"),
        expectTypesToPass(),
      ]);
    },
  );
});

describe("npm run fork", () => {
  test("says with --dry-run what it would do, and does nothing", async () => {
    const { output } = await fork("--name", "pizza-line", "--without", "splunk", "--dry-run");
    expect(output).toContain("the project is called pizza-line");
    expect(output).toContain("tools: error_trend");
    expect(output).toContain("tools/error-trend.ts");
    expect(changes()).toBe("");
  });

  test.each([
    ["log-store", /log-store cannot be taken away by itself; there are: ([\w-]+, )*elasticsearch/],
    ["oracle", /oracle cannot be taken away/],
  ])("does not take %s, and says what there is", async (without, words) => {
    const { exitCode, output } = await fork("--without", without);
    expect(exitCode).toBe(1);
    expect(output).toMatch(words);
    expect(changes()).toBe("");
  });

  describe("in a copy", () => {
    useCopy();

    test("refuses on uncommitted changes, and can be run again for another twin", async () => {
      expect((await fork("--name", "pizza-line", "--without", "splunk")).exitCode).toBe(0);
      const refused = await fork("--without", "elasticsearch");
      expect(refused.exitCode).toBe(1);
      expect(refused.output).toContain("there are uncommitted changes");
      commit("without splunk");
      expect((await fork("--without", "elasticsearch")).exitCode).toBe(0);
      expect(existsSync(path.join(copy, "twins/log-store"))).toBe(false);
    });

    test("a file that needs what goes is named when it is the agent's", async () => {
      writeFileSync(path.join(copy, "agent/probe.ts"), 'export * from "@offhook/postgres";\n');
      commit("an agent that imports a twin");
      const { exitCode, output } = await fork("--without", "postgres");
      expect(exitCode).toBe(1);
      expect(output).toContain("agent/probe.ts needs postgres");
    });
  });
});
