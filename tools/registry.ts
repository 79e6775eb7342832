/** Finds the tools: every file of this folder that is not the contract, the registry or a test is one. */
import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import type { Tool } from "./tool.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_TIMEOUT_MS = 300_000;
const NOT_TOOLS = new Set(["tool", "registry"]);

/** The tools of an agent. */
export interface ToolRegistry {
  /** In the order of their files' names. */
  all(): readonly Tool[];
  get(name: string): Tool | undefined;
  /** The JSON schema of a tool's parameters, as the model sees it. */
  jsonSchemaOf(tool: Tool): Record<string, unknown>;
}

/** Tool files are broken; the message names each file and what is wrong with it, one a line. */
export class ToolLoadError extends Error {
  override name = "ToolLoadError";
}

/** What a tool file must export, as far as that can be seen without running it. */
const toolSchema = z.object({
  name: z.string().regex(NAME, "must be 1 to 64 letters, digits, _ or -"),
  description: z.string().min(1, "must say when to use the tool").max(MAX_DESCRIPTION_LENGTH),
  parameters: z.instanceof(z.ZodObject, { error: "must be a z.object(…)" }),
  environment: z.instanceof(z.ZodObject, { error: "must be a z.object(…)" }).optional(),
  timeoutMs: z.number().int().min(1).max(MAX_TIMEOUT_MS).optional(),
  run: z.custom<Tool["run"]>((value) => typeof value === "function", "must be a function"),
});

interface LoadedTool {
  file: string;
  tool: Tool;
  jsonSchema: Record<string, unknown>;
}

/**
 * Loads every tool of a folder; `.ts` files from source, `.js` files from a build.
 * @param folder default: the folder of this file
 * @throws ToolLoadError naming every file that is no tool, and why
 */
export async function loadTools(
  folder = fileURLToPath(new URL(".", import.meta.url)),
): Promise<ToolRegistry> {
  const outcomes = await Promise.all(
    (await toolFiles(folder)).map(async (file) => {
      try {
        return await loadTool(folder, file);
      } catch (error) {
        return { file, problem: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
  const loaded = outcomes.filter((outcome): outcome is LoadedTool => "tool" in outcome);
  const problems = [
    ...outcomes.flatMap((outcome) => ("problem" in outcome ? [`${outcome.file}: ${outcome.problem}`] : [])),
    ...duplicates(loaded),
  ];
  if (problems.length > 0) {
    throw new ToolLoadError(`Tools cannot be loaded from ${folder}:\n  ${problems.join("\n  ")}`);
  }
  return registryOf(loaded);
}

/** A registry of given tools. @throws when a parameter schema has no JSON schema */
export function registryOf(
  tools: readonly { tool: Tool; jsonSchema?: Record<string, unknown> }[],
): ToolRegistry {
  const byName = new Map(
    tools.map(({ tool, jsonSchema }) => [tool.name, { tool, jsonSchema: jsonSchema ?? jsonSchemaFor(tool) }]),
  );
  const all = tools.map(({ tool }) => tool);
  return {
    all: () => all,
    get: (name) => byName.get(name)?.tool,
    jsonSchemaOf: (tool) => byName.get(tool.name)?.jsonSchema ?? jsonSchemaFor(tool),
  };
}

async function toolFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => {
      const extension = extname(name);
      const stem = basename(name, extension);
      if (extension !== ".ts" && extension !== ".js") return false;
      return !NOT_TOOLS.has(stem) && !stem.endsWith(".d") && !stem.endsWith(".test");
    })
    .sort();
}

async function loadTool(folder: string, file: string): Promise<LoadedTool> {
  const module: Record<string, unknown> = await import(pathToFileURL(join(folder, file)).href);
  if (module.default === undefined) {
    throw new Error("has no default export; write `export default defineTool({ … })`");
  }
  const parsed = toolSchema.safeParse(module.default);
  if (!parsed.success) {
    throw new Error(
      parsed.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`).join("; "),
    );
  }
  const { environment, timeoutMs, ...members } = parsed.data;
  const tool: Tool = {
    ...members,
    ...(environment === undefined ? {} : { environment }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return { file, tool, jsonSchema: jsonSchemaFor(tool) };
}

function jsonSchemaFor(tool: Tool): Record<string, unknown> {
  try {
    // The model writes what the schema takes in, so defaults are optional to it.
    const { $schema, "~standard": _, ...schema } = z.toJSONSchema(tool.parameters, { io: "input" });
    return schema;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`parameters have no JSON schema: ${reason}`);
  }
}

function duplicates(loaded: readonly LoadedTool[]): string[] {
  const first = new Map<string, string>();
  return loaded.flatMap(({ file, tool }) => {
    const other = first.get(tool.name);
    if (other === undefined) {
      first.set(tool.name, file);
      return [];
    }
    return [`${file}: the name ${tool.name} is taken by ${other}`];
  });
}
