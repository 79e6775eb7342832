/** Which file may import which. A rule knows folders and packages; none knows a single exception. */
import path from "node:path";
import type { Package } from "../shared/packages.ts";
import { type Import, type Project, workspaceOf } from "./imports.ts";

/**
 * What a package's code may import of the other packages. Every package may import the platform; one that is not in
 * this table, as a new twin is not, imports the platform alone.
 */
const DIRECTION: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  audio: ["platform"],
  "log-store": ["platform"],
  elasticsearch: ["log-store", "platform"],
  splunk: ["log-store", "platform"],
  vapi: ["audio", "platform"],
  caller: ["audio", "platform"],
  console: ["audio", "platform"],
  campaign: ["caller", "audio", "platform"],
  mcp: ["audio", "caller", "platform"],
};
const OF_A_TWIN = ["platform"];
/** Any package's tests may look at a call through it. */
const OF_TESTS = ["engine"];

/** What runs for a user; `scripts` and `samples` make, measure and start that. */
const PRODUCTION = new Set(["agent", "tools", "twins"]);

/** Folders of a package whose files the package runs without. */
const TEST_FOLDERS = new Set(["test", "testing", "bench", "compare", "coverage"]);

/** Where a file is. */
interface Place {
  /** The folder at the top: `agent`, `twins`, … */
  top: string;
  /** The folder of its package: `audio` for `twins/audio/pcm.ts`. */
  room: string | undefined;
  /** It belongs to tests or measurements: to `test`, or to such a folder of a package. */
  isTest: boolean;
  /** It is in `test`, or in the `test` of a package, which belong to nobody else. */
  isOwnTest: boolean;
}

interface Context extends Import {
  source: Place;
  target: Place | undefined;
  /** The workspace that is imported by name. */
  workspace: Package | undefined;
  isRelative: boolean;
}

interface Rule {
  name: string;
  says: string;
  refuses(it: Context): boolean;
}

export const RULES: readonly Rule[] = [
  {
    name: "agent",
    says: "agent/ meets the twins on the network alone: of this project it imports itself, tools/tool.ts and tools/registry.ts.",
    refuses: ({ source, target, to, workspace }) =>
      source.top === "agent" &&
      (workspace !== undefined ||
        (target !== undefined &&
          target.top !== "agent" &&
          to !== "tools/tool.ts" &&
          to !== "tools/registry.ts")),
  },
  {
    name: "tool",
    says: "A tool stands alone: it imports packages of the registry and ./tool.ts, nothing else of this project.",
    refuses: ({ from, source, to, workspace }) =>
      source.top === "tools" &&
      from !== "tools/registry.ts" &&
      (workspace !== undefined || (to !== undefined && to !== "tools/tool.ts")),
  },
  {
    name: "tool registry",
    says: "tools/registry.ts imports nothing of this project outside tools/.",
    refuses: ({ from, target, workspace }) =>
      from === "tools/registry.ts" &&
      (workspace !== undefined || (target !== undefined && target.top !== "tools")),
  },
  {
    name: "twins without the rest",
    says: "twins/ imports nothing of this project outside twins/: each stands in for a vendor and must be replaceable by it.",
    refuses: ({ source, target }) => source.top === "twins" && target !== undefined && target.top !== "twins",
  },
  {
    name: "package by name",
    says: "A package is imported by its name (@offhook/…), never by a path, so that its `exports` are its wall.",
    refuses: ({ source, target, isRelative }) =>
      isRelative && target?.top === "twins" && target.room !== undefined && source.room !== target.room,
  },
  {
    name: "package from outside",
    says: "A package knows nothing of the folder that it is in: it imports itself and other packages by name.",
    refuses: ({ source, target, isRelative }) =>
      isRelative && source.room !== undefined && target?.top === "twins" && target.room === undefined,
  },
  {
    name: "package by path inside",
    says: "Inside its own package a file is imported by its relative path.",
    refuses: ({ source, workspace }) =>
      workspace !== undefined && workspace.folder === `${source.top}/${source.room}`,
  },
  {
    name: "exports",
    says: "The package does not export this: add it to `exports` in its package.json if it is meant for others.",
    refuses: ({ workspace, to }) => workspace !== undefined && to === undefined,
  },
  {
    name: "direction",
    says: "elasticsearch, splunk → log-store; vapi, caller, console → audio; campaign, mcp → caller, audio; every package → platform. No twin imports another twin; tests may import engine.",
    refuses: ({ source, workspace }) => {
      if (source.room === undefined || workspace === undefined) return false;
      const room = path.posix.basename(workspace.folder);
      if (room === source.room || (source.isTest && OF_TESTS.includes(room))) return false;
      return !(DIRECTION[source.room] ?? OF_A_TWIN).includes(room);
    },
  },
  {
    name: "test code",
    says: "What runs in production imports nothing of a test/, testing/, bench/, compare/ or coverage/ folder.",
    refuses: ({ source, target }) => PRODUCTION.has(source.top) && !source.isTest && target?.isTest === true,
  },
  {
    name: "own tests",
    says: "Nothing imports test/: what several tests need is in test/support for those of the project, in testing/ of a package for everybody's.",
    refuses: ({ source, target }) =>
      target?.isOwnTest === true &&
      !(source.isOwnTest && source.top === target.top && source.room === target.room),
  },
  {
    name: "scripts",
    says: "Nothing but test/ imports scripts/: they are commands.",
    refuses: ({ source, target }) =>
      target?.top === "scripts" && source.top !== "scripts" && source.top !== "test",
  },
  {
    name: "shortest path",
    says: "Import by the shortest path: a detour hides who imports whom.",
    refuses: ({ from, specifier, to, isRelative }) =>
      isRelative && to !== undefined && specifier !== shortestSpecifier(from, to),
  },
];

/** @returns the rule that refuses an import, if one does */
export function refusalOf(it: Import, workspaces: readonly Package[]): Rule | undefined {
  const context: Context = {
    ...it,
    source: placeOf(it.from),
    target: it.to === undefined ? undefined : placeOf(it.to),
    workspace: workspaceOf(it.specifier, workspaces),
    isRelative: it.specifier.startsWith("."),
  };
  return RULES.find((rule) => rule.refuses(context));
}

/**
 * What packages export although nothing outside them imports it; a package itself (`.`) is exported in any case.
 * @returns specifiers, such as `@offhook/audio/pcm`
 */
export function unusedExports({ imports, workspaces }: Project): string[] {
  return workspaces.flatMap(({ name, folder, exports }) => {
    const outside = imports.filter(({ from }) => !from.startsWith(`${folder}/`));
    const used = new Set(outside.map(({ specifier }) => specifier));
    return [...exports.keys()]
      .filter((subpath) => subpath !== ".")
      .map((subpath) => `${name}${subpath.slice(1)}`)
      .filter((specifier) => !used.has(specifier));
  });
}

function placeOf(file: string): Place {
  const [top = "", second = "", third = "", ...deeper] = file.split("/");
  if (top !== "twins" || third === "") {
    return { top, room: undefined, isTest: top === "test", isOwnTest: top === "test" };
  }
  const isFolder = deeper.length > 0;
  return {
    top,
    room: second,
    isTest: isFolder && TEST_FOLDERS.has(third),
    isOwnTest: isFolder && third === "test",
  };
}

function shortestSpecifier(from: string, to: string): string {
  const relative = path.posix.relative(path.posix.dirname(from), to);
  return relative.startsWith(".") ? relative : `./${relative}`;
}
