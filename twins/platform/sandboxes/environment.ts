/** The environment file: the services of a sandbox and their settings. Mistakes are reported by line. */
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { type KeyEntry, keyHash, organisationName } from "../http/api-keys.ts";
import type { TwinEntry } from "../twin/twin-entry.ts";
import { type ActorSetup, type AgentSetup, actorSchema, agentSchema } from "./agent-setup.ts";
import type { Layout } from "./sandbox.ts";
import { type CheckedService, mistakesOf, servicesSchema } from "./services.ts";

const fileSchema = (known: readonly TwinEntry[]) =>
  z.strictObject({
    version: z.literal(1, "must be 1"),
    /** Address layout of `dev`; see `Layout`. */
    layout: z.enum(["split", "legacy"]).default("split"),
    services: servicesSchema(known),
    /** The organisations, each with the hashes of its keys; the first one owns `dev`. */
    keys: z
      .record(organisationName, z.union([keyHash.transform((hash) => [hash]), z.array(keyHash)]))
      .default({}),
    /** Folders whose files the services of `POST /sandboxes` may name, relative to this file. */
    request_folders: z.array(z.string().min(1)).default([]),
    actor: actorSchema.prefault({}),
    agent: agentSchema.prefault({}),
  });

export interface Environment {
  layout: Layout;
  services: CheckedService[];
  keys: KeyEntry[];
  /** Folders whose files a request may name, relative to the environment file. */
  requestFolders: string[];
  actor: ActorSetup;
  agent: AgentSetup;
}

/** An invalid environment file, with all its mistakes. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

/**
 * Reads the text of an environment file, and loads the twins that it names.
 * @param file its name, for messages
 * @param known the available twins
 * @throws EnvironmentError with one line (`file:line: where: rule`) per mistake.
 */
export async function readEnvironment(
  text: string,
  file: string,
  known: readonly TwinEntry[],
): Promise<Environment> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const said = document.errors.map(
      ({ pos, message }) => `${file}:${lines.linePos(pos[0]).line}: ${message}`,
    );
    throw new EnvironmentError(said.join("\n"));
  }
  const reading = await fileSchema(known).safeParseAsync(document.toJS({ maxAliasCount: 100 }));
  if (!reading.success) {
    const said = mistakesOf(reading.error)
      .map(({ path, rule }) => ({ path, rule, line: lineOf(path, document, lines) }))
      .sort((one, other) => one.line - other.line)
      .map(({ path, rule, line }) => say(path, rule, `${file}:${line}`));
    throw new EnvironmentError(said.join("\n"));
  }
  const { layout, services, keys, request_folders: requestFolders, actor, agent } = reading.data;
  const entries = Object.entries(keys).flatMap(([organisation, hashes]) =>
    hashes.map((sha256) => ({ organisation, sha256 })),
  );
  return { layout, services, keys: entries, requestFolders, actor, agent };
}

function say(path: PropertyKey[], rule: string, place: string): string {
  const where = path.map(String).join(".");
  return `${place}: ${where === "" ? "" : `${where}: `}${rule}`;
}

/** The line of a key, or of its nearest ancestor in the file. */
function lineOf(path: PropertyKey[], document: Document, lines: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
      if (pair && isScalar(pair.key) && pair.key.range) return lines.linePos(pair.key.range[0]).line;
    }
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isRanged(node)) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function isRanged(node: unknown): node is { range: [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}
