/**
 * The Dockerfiles: what they copy is there, and with `IMAGES=all` their steps are carried out, each stage in a folder, and
 * what would be in the images is measured and started. No Docker is needed, and base images are not looked at.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { PROJECT } from "../../scripts/shared/folders.ts";

const FILES = ["agent/Dockerfile", "twins/Dockerfile", "twins/campaign/Dockerfile"].filter((file) =>
  existsSync(path.join(PROJECT, file)),
);
const MB = 1_000_000;
/** An image of 400 MB, without Debian (86 MB as debootstrap makes it, without manuals) and the program of Node 24 (127 MB). */
const MAX_TWINS_BYTES = (400 - 86 - 127) * MB;

interface Step {
  instruction: string;
  argument: string;
}

/** The steps of a Dockerfile, lines joined. */
function stepsOf(file: string): Step[] {
  const text = readFileSync(path.join(PROJECT, file), "utf8")
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n/g, " ");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, instruction = "", argument = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return { instruction, argument };
    });
}

function copyOf(argument: string): { from: string | undefined; sources: string[]; target: string } {
  const [, from] = /^--from=(\S+) /.exec(argument) ?? [];
  const words = argument.replace(/^--from=\S+ /, "").split(/\s+/);
  return { from, sources: words.slice(0, -1), target: words.at(-1) ?? "." };
}

test.each(FILES)("%s copies what is there, and ends as no root", (file) => {
  const steps = stepsOf(file);
  for (const { argument } of steps.filter(({ instruction }) => instruction === "COPY")) {
    const { from, sources } = copyOf(argument);
    if (from !== undefined) continue;
    for (const source of sources) expect(existsSync(path.join(PROJECT, source)), source).toBe(true);
  }
  expect(steps.findLast(({ instruction }) => instruction === "USER")?.argument).toMatch(/^(node|1000)$/);
});

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Carries the steps out. @returns the folder of the last stage's `/app` */
function build(file: string): string {
  folder = mkdtempSync(path.join(tmpdir(), "offhook-image-"));
  const stages = new Map<string, string>();
  let stage = "";
  let count = 0;
  for (const { instruction, argument } of stepsOf(file)) {
    if (instruction === "FROM") {
      stage = path.join(folder, String(count++));
      mkdirSync(stage);
      const [, name] = / AS (\S+)$/.exec(argument) ?? [];
      if (name !== undefined) stages.set(name, stage);
    }
    if (instruction === "COPY") copy(argument, stage, stages);
    // The last stage's users are the image's.
    if (instruction === "RUN" && !argument.includes("chown")) {
      execFileSync("sh", ["-ec", argument], { cwd: stage, stdio: "pipe", env: plainEnvironment() });
    }
  }
  return stage;
}

function copy(argument: string, stage: string, stages: ReadonlyMap<string, string>): void {
  const { from, sources, target } = copyOf(argument);
  const origin = from === undefined ? PROJECT : stages.get(from);
  if (origin === undefined) return;
  for (const source of sources) {
    const inside = from === undefined ? source : path.posix.relative("/app", source);
    const isInto = target.endsWith("/");
    const to = path.join(stage, target, isInto ? path.basename(source) : "");
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(path.join(origin, inside), to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (each) => from !== undefined || !each.split(path.sep).includes("node_modules"),
    });
  }
}

/** Only what a build needs: variables of this run would lead npm elsewhere. */
function plainEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
  };
}

function sizeOf(below: string): number {
  const stats = lstatSync(below);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(below).reduce((sum, name) => sum + sizeOf(path.join(below, name)), 0);
}

const WHOLE = process.env.IMAGES === "all";
const WHOLE_LIMIT_MS = 600_000;

test.skipIf(!WHOLE)(
  "the image of the twins has at most 400 MB, and starts every twin",
  async () => {
    const app = build("twins/Dockerfile");
    const bytes = sizeOf(app);
    console.log(`the twins: ${Math.round(bytes / MB)} MB in /app`);
    expect(bytes).toBeLessThan(MAX_TWINS_BYTES);
    const child = spawn(process.execPath, ["twins/main.js", "--json"], {
      cwd: app,
      env: { ...plainEnvironment(), NODE_ENV: "production", TWINS_PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(child.stdout, "data");
    const { sandboxes } = z
      .object({ sandboxes: z.array(z.object({ twins: z.array(z.object({ name: z.string() })) })) })
      .parse(JSON.parse(String(line)));
    expect(sandboxes[0]?.twins.map(({ name }) => name)).toContain("engine");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  },
  WHOLE_LIMIT_MS,
);

test.skipIf(!WHOLE || !FILES.includes("twins/campaign/Dockerfile"))(
  "the image of a campaign's worker has what it is started with",
  () => {
    const app = build("twins/campaign/Dockerfile");
    console.log(`a worker: ${Math.round(sizeOf(app) / MB)} MB in /app`);
    const command = stepsOf("twins/campaign/Dockerfile").at(-1)?.argument ?? "";
    const [, ...args] = z.array(z.string()).parse(JSON.parse(command));
    const said = execFileSync(process.execPath, [...args, "--help"], {
      cwd: app,
      encoding: "utf8",
      env: plainEnvironment(),
    });
    expect(said).toContain("place calls of every campaign that runs");
  },
  WHOLE_LIMIT_MS,
);
