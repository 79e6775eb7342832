/** Carries a plan out. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseDocument, YAMLSeq } from "yaml";
import { ENVIRONMENT, type Plan, REGISTRY } from "./plan.ts";
import { withoutRows } from "./texts.ts";

/** Renames the project: its package, and the title of its README. */
export function rename(root: string, name: string): void {
  editJson(path.join(root, "package.json"), (manifest) => ({ ...manifest, name }));
  edit(path.join(root, "README.md"), (text) => text.replace(/^# .*$/m, `# ${name}`));
}

export function remove(root: string, plan: Plan): void {
  for (const { from, to } of plan.left) renameSync(path.join(root, from), path.join(root, to));
  for (const each of plan.paths) rmSync(path.join(root, each), { recursive: true, force: true });
  editJson(path.join(root, "package.json"), (manifest) => withoutMembers(manifest, plan));
  if (!plan.isAll) {
    edit(path.join(root, REGISTRY), (text) => withoutLines(text, plan));
    edit(path.join(root, ENVIRONMENT), (text) => withoutServices(text, plan));
  }
  for (const file of markdownFiles(root)) {
    const folder = path.posix.dirname(file) === "." ? "" : path.posix.dirname(file);
    edit(path.join(root, file), (text) => withoutRows(text, plan, folder));
  }
  if (plan.left.length > 0)
    for (const file of testFiles(root)) edit(file, (text) => withMoved(root, file, text, plan));
  edit(path.join(root, ".env.example"), (text) => withoutVariables(text, plan.variables));
  editJson(path.join(root, "biome.json"), (settings) => withoutMissingPlugins(root, settings));
  const formatter = path.join(root, "node_modules/@biomejs/biome/bin/biome");
  const edited = ["biome.json", "package.json", "test", REGISTRY].filter((file) =>
    existsSync(path.join(root, file)),
  );
  execFileSync(process.execPath, [formatter, "check", "--write", ...edited], { cwd: root, stdio: "ignore" });
}

/**
 * Makes the lock file say what the package.json files say. Beside `node_modules`, npm would drop the optional packages of other
 * machines from it: it works in a folder that has none.
 * @throws when npm fails
 */
export function lock(root: string): void {
  const folder = mkdtempSync(path.join(tmpdir(), "offhook-lock-"));
  try {
    const manifests = readdirIfThere(path.join(root, "twins")).map((name) => `twins/${name}/package.json`);
    for (const file of ["package.json", "package-lock.json", ".npmrc", ...manifests]) {
      if (!existsSync(path.join(root, file))) continue;
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      copyFileSync(path.join(root, file), path.join(folder, file));
    }
    const options = [
      "--package-lock-only",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
    ];
    execFileSync("npm", ["install", ...options], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    copyFileSync(path.join(folder, "package-lock.json"), path.join(root, "package-lock.json"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readdirIfThere(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

type Json = Record<string, unknown>;

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, "utf8");
  const changed = change(text);
  if (changed !== text) writeFileSync(file, changed);
}

function editJson(file: string, change: (value: Json) => Json): void {
  edit(file, (text) => `${JSON.stringify(change(JSON.parse(text)), null, 2)}\n`);
}

function withoutMembers(manifest: Json, plan: Plan): Json {
  const without = (member: unknown, names: readonly string[]) =>
    Object.fromEntries(Object.entries(member ?? {}).filter(([name]) => !names.includes(name)));
  return {
    ...(plan.isAll ? without(manifest, ["workspaces"]) : manifest),
    scripts: withoutWorkspaces(without(manifest.scripts, plan.scripts), plan),
    dependencies: without(manifest.dependencies, plan.dependencies),
    devDependencies: without(manifest.devDependencies, plan.dependencies),
  };
}

/** Scripts without the steps that npm takes in every workspace, where none stays. */
function withoutWorkspaces(scripts: Json, { isAll }: Plan): Json {
  const isStep = (step: string) => !step.includes(" --workspaces ");
  const steps = Object.entries(scripts).map(([name, text]) => [
    name,
    String(text).split(" && ").filter(isStep).join(" && "),
  ]);
  return isAll ? Object.fromEntries(steps) : scripts;
}

function withoutLines(text: string, { packages }: Plan): string {
  return text
    .split("\n")
    .filter((line) => !packages.some(({ name }) => line.includes(`"${name}"`)))
    .join("\n");
}

function withoutServices(text: string, { packages, script }: Plan): string {
  if (script === undefined && packages.every(({ service }) => service === undefined)) return text;
  const document = parseDocument(text);
  const services = document.get("services");
  if (!(services instanceof YAMLSeq)) return text;
  services.items = services.items.filter(
    (item) => !packages.some(({ service }) => service !== undefined && item.get("name") === service),
  );
  if (script !== undefined) {
    for (const item of services.items) {
      if (item.getIn(["config", "script"]) !== undefined) {
        item.setIn(["config", "script"], path.posix.relative(path.posix.dirname(ENVIRONMENT), script));
      }
    }
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function testFiles(root: string): string[] {
  return readdirSync(path.join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => path.join(root, "test", name));
}

function withMoved(root: string, file: string, text: string, { left }: Plan): string {
  return left.reduce((changed, { to, specifier }) => {
    const relative = path.posix.relative(path.dirname(file), path.join(root, to));
    return changed.replaceAll(`"${specifier}"`, `"${relative.startsWith(".") ? relative : `./${relative}`}"`);
  }, text);
}

/** `.env.example` without the lines of these variables, and without sections that have no other. */
function withoutVariables(text: string, variables: readonly string[]): string {
  const isGone = (line: string) => variables.some((name) => line.startsWith(`${name}=`));
  return text
    .split(/^(?=# --- )/m)
    .flatMap((section) => {
      const lines = section.split("\n");
      const named = lines.filter((line) => /^[A-Z_]+=/.test(line));
      if (named.length > 0 && named.every(isGone)) return [];
      return [lines.filter((line) => !isGone(line)).join("\n")];
    })
    .join("");
}

function withoutMissingPlugins(root: string, settings: Json): Json {
  const isThere = (plugin: string) => existsSync(path.join(root, plugin));
  const { overrides } = settings as { overrides?: { plugins?: string[] }[] };
  if (!overrides) return settings;
  return { ...settings, overrides: overrides.filter(({ plugins = [] }) => plugins.every(isThere)) };
}

/** Markdown of the project that git knows and that is still there, packages' own left out. */
function markdownFiles(root: string): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "*.md"], { cwd: root, encoding: "utf8" }).split("\0");
  return listed.filter(
    (file) => file !== "" && !/^twins\/[^/]+\//.test(file) && existsSync(path.join(root, file)),
  );
}
