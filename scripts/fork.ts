/** `npm run fork`: makes a clone somebody's own project, without the twins that it has no use for. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { lock, remove, rename } from "./fork/apply.ts";
import { ALL, ForkRefusal, packagesToRemove } from "./fork/packages.ts";
import { countFiles, type Plan, planRemoval } from "./fork/plan.ts";
import { PROJECT } from "./shared/folders.ts";
import { readPackages } from "./shared/packages.ts";

const USAGE = `npm run fork -- [--name NAME] [--without TWIN[,TWIN…]] [--dry-run]

  --name NAME     what the project is called from now on: pizza-line
  --without TWIN  takes these twins away, with their services, tools, scenarios, datasets, tests and
                  rows of the READMEs; ${ALL} takes all of twins/ away and leaves the agent
  --dry-run       says what would be done, and does nothing
  --help

It refuses to run on uncommitted changes, and can be run again for another twin. Git brings back what it took.`;

const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/;

async function main(): Promise<void> {
  const given = readArguments(USAGE, {
    name: { type: "string" },
    without: { type: "string" },
    "dry-run": { type: "boolean", default: false },
  });
  if (given === undefined) {
    console.log(USAGE);
    return;
  }
  const { name, without = "", "dry-run": isDry } = given.values;
  const wanted = without.split(",").filter((each) => each !== "");
  if (name === undefined && wanted.length === 0) throw new UsageError(`nothing to do\n\n${USAGE}`);
  if (name !== undefined && !NAME.test(name)) {
    throw new UsageError(`--name takes lower-case letters, digits, ".", "_" and "-", not ${name}`);
  }
  if (!isDry) requireCommitted();
  const packages = readPackages(PROJECT);
  const plan = wanted.length === 0 ? undefined : await planOf(packages, wanted);
  console.log(describe(name, plan).join("\n"));
  if (isDry) {
    console.log("\nNothing was done: this was --dry-run.");
    return;
  }
  if (name !== undefined) rename(PROJECT, name);
  if (plan) remove(PROJECT, plan);
  lock(PROJECT);
  console.log(
    "\nDone. npm ci fetches what is left; npm run lint && npm run typecheck && npm test prove it; git diff shows it.",
  );
}

async function planOf(packages: ReturnType<typeof readPackages>, wanted: readonly string[]): Promise<Plan> {
  return planRemoval(PROJECT, packagesToRemove(packages, wanted), wanted.includes(ALL));
}

function requireCommitted(): void {
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: PROJECT, encoding: "utf8" });
  if (changed === "") return;
  const [first = ""] = changed.split("\n");
  throw new ForkRefusal(`there are uncommitted changes (${first.trim()}): commit or stash them first`);
}

function describe(name: string | undefined, plan: Plan | undefined): string[] {
  const lines = name === undefined ? [] : [`the project is called ${name}`];
  if (!plan) return lines;
  const list = (what: string, members: readonly string[]) =>
    members.length === 0 ? [] : [`${what}: ${members.join(", ")}`];
  const files = plan.paths.map((each) => ({ each, count: countFiles(path.join(PROJECT, each)) }));
  const total = files.reduce((sum, { count }) => sum + count, 0);
  return [
    ...lines,
    ...list(
      "packages",
      plan.packages.map(({ id }) => id),
    ),
    ...list("tools", plan.tools),
    ...list(
      "commands",
      plan.scripts.map((script) => `npm run ${script}`),
    ),
    ...list("dependencies", plan.dependencies),
    ...(plan.script === undefined ? [] : [`the runtime plays ${plan.script} by default`]),
    `${total} files:`,
    ...files.map(({ each, count }) => (count === 1 ? `  ${each}` : `  ${each}/ (${count} files)`)),
  ];
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ForkRefusal)) throw error;
  console.error(error.message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
