/** Carries a plan out. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  editJson(path.join(root, "biome.json"), (settings) => withoutMissingPlugins(root, settings));
}

/** Makes the lock file say what package.json says. @throws when npm fails */
export function lock(root: string): void {
  const args = [
    "install",
    "--package-lock-only",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
  ];
  execFileSync("npm", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
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
  const { workspaces, ...rest } = manifest;
  return {
    ...(plan.isAll ? rest : { ...rest, workspaces }),
    scripts: without(manifest.scripts, plan.scripts),
    dependencies: without(manifest.dependencies, plan.dependencies),
    devDependencies: without(manifest.devDependencies, plan.dependencies),
  };
}

function withoutLines(text: string, { packages }: Plan): string {
  return text
    .split("\n")
    .filter((line) => !packages.some(({ name }) => line.includes(`"${name}"`)))
    .join("\n");
}

function withoutServices(text: string, { packages, script }: Plan): string {
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
  return document.toString({ lineWidth: 0 });
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
