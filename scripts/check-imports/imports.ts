/** The imports of every source file of the project, as they are written. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { type Package, readPackages } from "../shared/packages.ts";

/** The folders that hold code. */
const FOLDERS = ["agent", "tools", "twins", "samples", "scripts", "test"];
const SOURCE = /\.[cm]?[jt]sx?$/;
const SKIPPED = new Set(["node_modules", "dist"]);

/** An import, a re-export, an `import()` or an `import("…")` type. Paths are relative to the project, with forward slashes. */
export interface Import {
  from: string;
  line: number;
  /** As written: `./a.ts`, `@offhook/audio/pcm`, `pg`. */
  specifier: string;
  /** Nothing but types is imported, so nothing is loaded. */
  isTypeOnly: boolean;
  /** The file it names, if that belongs to the project. */
  to: string | undefined;
}

export interface Project {
  files: string[];
  workspaces: Package[];
  imports: Import[];
}

type Written = Pick<Import, "specifier" | "isTypeOnly"> & { start: number };

/**
 * @param root the project's folder
 * @throws when a file cannot be parsed
 */
export function readProject(root: string): Project {
  const files = FOLDERS.flatMap((folder) => sourceFiles(root, folder));
  const workspaces = readPackages(root);
  const imports = files.flatMap((from) => {
    const text = readFileSync(path.join(root, from), "utf8");
    return writtenImports(from, text).map(({ specifier, isTypeOnly, start }) => ({
      from,
      line: text.slice(0, start).split("\n").length,
      specifier,
      isTypeOnly,
      to: resolve(from, specifier, workspaces),
    }));
  });
  return { files, workspaces, imports };
}

function sourceFiles(root: string, folder: string): string[] {
  const absolute = path.join(root, folder);
  const entries = existsSync(absolute) ? readdirSync(absolute, { withFileTypes: true }) : [];
  return entries.flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (SKIPPED.has(entry.name)) return [];
    if (entry.isDirectory()) return sourceFiles(root, name);
    return SOURCE.test(name) ? [name] : [];
  });
}

function writtenImports(file: string, text: string): Written[] {
  const parsed = parseSync(file, text);
  const [error] = parsed.errors;
  if (error) throw new Error(`${file} cannot be parsed: ${error.message}`);
  const { staticImports, staticExports } = parsed.module;
  const found: Written[] = staticImports.map(({ moduleRequest, entries }) => ({
    specifier: moduleRequest.value,
    isTypeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    start: moduleRequest.start,
  }));
  for (const { entries } of staticExports) {
    const [request] = entries.flatMap(({ moduleRequest }) => moduleRequest ?? []);
    if (!request) continue;
    const isTypeOnly = entries.every(({ isType }) => isType);
    found.push({ specifier: request.value, isTypeOnly, start: request.start });
  }
  // Only the syntax tree has these, and handing it over takes longer than all the rest.
  if (text.includes("import(")) {
    const add = (isTypeOnly: boolean, source: { type: string; start: number; value?: unknown }) => {
      if (typeof source.value === "string") {
        found.push({ specifier: source.value, isTypeOnly, start: source.start });
      }
    };
    new Visitor({
      ImportExpression: ({ source }) => add(false, source),
      TSImportType: ({ source }) => add(true, source),
    }).visit(parsed.program);
  }
  return found;
}

function resolve(from: string, specifier: string, workspaces: readonly Package[]): string | undefined {
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(from), specifier);
  const workspace = workspaceOf(specifier, workspaces);
  return workspace?.exports.get(`.${specifier.slice(workspace.name.length)}`);
}

/** The workspace that a specifier names, whether or not that exports what is asked of it. */
export function workspaceOf(specifier: string, workspaces: readonly Package[]): Package | undefined {
  return workspaces.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
}
