/** What has to change for packages to go. Nothing is touched. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { listScenarioFiles } from "@offhook/caller/scenario-file";
import { parse } from "yaml";
import { z } from "zod";
import { readProject } from "../check-imports/imports.ts";
import type { Package } from "../shared/packages.ts";
import { ForkRefusal } from "./packages.ts";

/** Lists every twin, a line each: it loses lines, not itself. */
export const REGISTRY = "twins/registry.ts";
export const ENVIRONMENT = "twins/environment.yaml";
const SCENARIOS = "samples/scenarios";
const DATASETS = "samples/datasets";

export interface Plan {
  packages: readonly Package[];
  /** Whether no package stays. */
  isAll: boolean;
  /** Files and folders that go, relative to the project; no file of a folder that goes is listed beside it. */
  paths: string[];
  /** Files of packages that move to `test/support`: the place of each, and how it is imported until then. */
  left: { from: string; to: string; specifier: string }[];
  /** Names of the tools that go, and the variables that no other tool reads. */
  tools: string[];
  variables: string[];
  /** Members of the root's package.json that go. */
  scripts: string[];
  dependencies: string[];
  /** The scenario whose script the runtime plays by default, where the one before goes. */
  script: string | undefined;
}

/** @throws ForkRefusal when the agent or a command that stays needs what would go */
export async function planRemoval(root: string, packages: readonly Package[], isAll: boolean): Promise<Plan> {
  const project = readProject(root);
  const inPackages = (file: string) => packages.some(({ folder }) => file.startsWith(`${folder}/`));
  const gone = new Set<string>();
  const left = isAll ? packages.flatMap(filesLeft) : [];
  if (isAll) for (const file of project.files) if (file.startsWith("twins/")) gone.add(file);
  for (const file of project.files) if (inPackages(file)) gone.add(file);
  const taken = packages.flatMap(({ takes }) => takes.filter((each) => existsSync(path.join(root, each))));
  const isTaken = (file: string) => taken.some((each) => file === each || file.startsWith(`${each}/`));
  for (const file of project.files) if (isTaken(file)) gone.add(file);
  for (const { from } of left) gone.delete(from);
  const { tools, variables } = await toolsThatGo(root, gone, project.files);
  const scenarios = scenariosThatCall(root, tools);
  const texts = new Map(project.files.map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
  const needs = neededBy(project.imports, texts);
  const names = scenarios.map((file) => path.basename(file, ".yaml"));
  for (const [file, text] of texts) {
    if (file.startsWith("test/") && names.some((name) => text.includes(`"${name}"`))) gone.add(file);
  }
  for (let before = -1; before !== gone.size; ) {
    before = gone.size;
    for (const [file, needed] of needs) {
      if (file !== REGISTRY && needed.some((each) => gone.has(each))) gone.add(file);
    }
  }
  const lost = [...gone].find((file) => file.startsWith("agent/") || file === "twins/main.ts");
  if (lost !== undefined && !(isAll && lost.startsWith("twins/"))) {
    throw new ForkRefusal(`${lost} needs ${packages.map(({ id }) => id).join(" or ")}: change it first`);
  }
  const others = isAll ? ["twins"] : packages.map(({ folder }) => folder);
  const files = [...gone].filter((file) => !others.some((folder) => file.startsWith(`${folder}/`)));
  const { script, datasets } = planEnvironment(root, packages, scenarios, isAll);
  const paths = [...others, ...taken, ...files.filter((file) => !isTaken(file)), ...scenarios, ...datasets];
  return {
    packages,
    isAll,
    paths: [...new Set(paths)].sort(),
    left,
    tools,
    variables,
    scripts: scriptsOf(root, (file) => gone.has(file)),
    dependencies: dependenciesOf(root, packages, project.imports, gone),
    script,
  };
}

/** Programs and assets that a file starts or reads beside itself count as imports. */
function neededBy(
  imports: ReturnType<typeof readProject>["imports"],
  texts: ReadonlyMap<string, string>,
): Map<string, string[]> {
  const needs = new Map<string, string[]>([...texts.keys()].map((file) => [file, []]));
  for (const { from, to } of imports) if (to !== undefined) needs.get(from)?.push(to);
  for (const [file, text] of texts) {
    for (const [, written = ""] of text.matchAll(/new URL\("(\.[^"]+\.[cm]?[jt]s)", import\.meta\.url\)/g)) {
      needs.get(file)?.push(path.posix.join(path.posix.dirname(file), written));
    }
  }
  return needs;
}

function filesLeft({ name, folder, leaves }: Package): Plan["left"] {
  return leaves.map((file) => ({
    from: `${folder}/${file}`,
    to: `test/support/${path.posix.basename(file)}`,
    specifier: `${name}/${file.replace(/\.ts$/, "")}`,
  }));
}

const toolModule = z.object({
  default: z.object({ name: z.string(), environment: z.instanceof(z.ZodObject).optional() }),
});

async function toolsThatGo(
  root: string,
  gone: ReadonlySet<string>,
  files: readonly string[],
): Promise<Pick<Plan, "tools" | "variables">> {
  const loaded = await Promise.all(
    files
      .filter((file) => /^tools\/[^/]+(?<!\.d)\.ts$/.test(file))
      .map(async (file) => {
        const reading = toolModule.safeParse(await import(pathToFileURL(path.join(root, file)).href));
        const { name, environment: read } = reading.data?.default ?? {};
        return { name, variables: Object.keys(read?.shape ?? {}), isGone: gone.has(file) };
      }),
  );
  const going = loaded.filter(({ isGone }) => isGone);
  const used = new Set(loaded.flatMap(({ isGone, variables }) => (isGone ? [] : variables)));
  return {
    tools: going.flatMap(({ name }) => name ?? []),
    variables: going.flatMap(({ variables }) => variables).filter((name) => !used.has(name)),
  };
}

function scenarioFiles(root: string): string[] {
  return [...listScenarioFiles(path.join(root, SCENARIOS)).keys()].map((name) => `${SCENARIOS}/${name}.yaml`);
}

function scenariosThatCall(root: string, tools: readonly string[]): string[] {
  return scenarioFiles(root).filter((file) => {
    const called = toolsIn(parse(readFileSync(path.join(root, file), "utf8")));
    return called.some((name) => tools.includes(name));
  });
}

function toolsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(toolsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "tool" && typeof member === "string" ? [member] : toolsIn(member),
  );
}

const environment = z.object({
  services: z.array(
    z.looseObject({
      name: z.string(),
      dataset: z.string().optional(),
      config: z.looseObject({ script: z.string().optional() }).optional(),
    }),
  ),
});

function planEnvironment(
  root: string,
  packages: readonly Package[],
  scenarios: readonly string[],
  isAll: boolean,
): { script: string | undefined; datasets: string[] } {
  const file = path.join(root, ENVIRONMENT);
  const { services } = environment.parse(parse(readFileSync(file, "utf8")));
  const staying = isAll
    ? []
    : services.filter(({ name }) => !packages.some(({ service }) => service === name));
  const inProject = (written: string) => path.posix.join(path.posix.dirname(ENVIRONMENT), written);
  const used = new Set(staying.flatMap(({ dataset }) => (dataset === undefined ? [] : [inProject(dataset)])));
  const folder = path.join(root, DATASETS);
  const datasets = existsSync(folder)
    ? readdirSync(folder)
        .map((name) => `${DATASETS}/${name}`)
        .filter((each) => each.endsWith(".gz") && !used.has(each))
    : [];
  const scripts = staying.flatMap(({ config }) => config?.script ?? []).map(inProject);
  const needsOther = scripts.some((script) => scenarios.includes(script));
  const [first] = scenarioFiles(root).filter((each) => !scenarios.includes(each));
  return { script: needsOther ? first : undefined, datasets };
}

const rootManifest = z.object({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

function readRootManifest(root: string) {
  return rootManifest.parse(JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")));
}

function scriptsOf(root: string, isGone: (file: string) => boolean): string[] {
  const { scripts } = readRootManifest(root);
  return Object.keys(scripts).filter((name) => {
    const words = scripts[name]?.split(" ") ?? [];
    return words.some((word) => word.endsWith(".ts") && isGone(word));
  });
}

/** Packages of the registry that only files import which go, with their types, and the packages that go themselves. */
function dependenciesOf(
  root: string,
  packages: readonly Package[],
  imports: ReturnType<typeof readProject>["imports"],
  gone: ReadonlySet<string>,
): string[] {
  const { dependencies, devDependencies } = readRootManifest(root);
  const all = Object.keys({ ...dependencies, ...devDependencies });
  const isOfProject = ({ from }: { from: string }) => !/^twins\/[^/]+\//.test(from);
  const users = (name: string) =>
    imports.filter(
      (each) => isOfProject(each) && (each.specifier === name || each.specifier.startsWith(`${name}/`)),
    );
  const going = all.filter((name) => {
    const importers = users(name);
    return importers.length > 0 && importers.every(({ from }) => gone.has(from));
  });
  const names = new Set([...going, ...packages.map(({ name }) => name)]);
  return all.filter((name) => names.has(name) || names.has(name.replace("@types/", "")));
}

/** @returns how many files are below a path, itself included */
export function countFiles(absolute: string): number {
  if (!statSync(absolute).isDirectory()) return 1;
  return readdirSync(absolute).reduce((sum, name) => sum + countFiles(path.join(absolute, name)), 0);
}
