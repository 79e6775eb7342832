/** A checkout of Splunk's detections (`splunk/security_content`): its searches, macros and lookups. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "@offhook/platform/server/command-line";
import { parseDocument } from "yaml";
import { z } from "zod";

export interface Detection {
  /** Its file, from the checkout's folder on. */
  file: string;
  search: string;
}

export interface DetectionMacro {
  name: string;
  args: string[];
  definition: string;
}

interface DetectionLookup {
  name: string;
  fields: string[];
}

export interface Repository {
  detections: Detection[];
  macros: DetectionMacro[];
  lookups: DetectionLookup[];
}

const detection = z.object({ search: z.string().min(1) });
const macro = z.object({
  name: z.string(),
  definition: z.string(),
  arguments: z.array(z.string()).default([]),
});
const lookup = z.object({
  name: z.string(),
  filename: z.string().optional(),
  fields_list: z.string().optional(),
});

/** @throws UsageError when the folder is no such checkout */
export async function readRepository(folder: string): Promise<Repository> {
  const detections: Detection[] = [];
  for (const file of await yamlFiles(path.join(folder, "detections"))) {
    const read = detection.safeParse(await readYaml(file));
    if (read.success) detections.push({ file: path.relative(folder, file), search: read.data.search });
  }
  const macros: DetectionMacro[] = [];
  for (const file of await yamlFiles(path.join(folder, "macros"))) {
    const read = macro.parse(await readYaml(file));
    const name = read.name.replace(/\(\d+\)$/, "");
    macros.push({ name, args: read.arguments, definition: read.definition });
  }
  const lookups: DetectionLookup[] = [];
  for (const file of await yamlFiles(path.join(folder, "lookups"))) {
    const { name, filename, fields_list } = lookup.parse(await readYaml(file));
    const header = filename === undefined ? "" : await firstLine(path.join(folder, "lookups", filename));
    lookups.push({ name, fields: names(fields_list ?? header) });
  }
  if (detections.length === 0) throw new UsageError(`there are no detections in ${folder}`);
  return { detections, macros, lookups };
}

async function yamlFiles(folder: string): Promise<string[]> {
  if (!existsSync(folder))
    throw new UsageError(`${folder} is not there: a checkout of security_content has it`);
  const entries = await readdir(folder, { recursive: true });
  return entries
    .filter((name) => name.endsWith(".yml"))
    .sort()
    .map((name) => path.join(folder, name));
}

/** Some files go on with a quoted text at the start of a line, which YAML wants indented. */
async function readYaml(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8");
  const document = parseDocument(text);
  if (document.errors.length === 0) return document.toJS();
  return parseDocument(text.replaceAll(/^(?![\s#-]|\w+:)/gm, "  ")).toJS();
}

async function firstLine(file: string): Promise<string> {
  if (!existsSync(file) || !file.endsWith(".csv")) return "";
  return (await readFile(file, "utf8")).split(/\r?\n/, 1)[0] ?? "";
}

function names(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim().replace(/^\uFEFF?"?|"$/g, ""))
    .filter((name) => name !== "");
}
