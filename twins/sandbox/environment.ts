/** The environment file: which services a sandbox has, and how each is set up. Mistakes are named by line. */
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { hostName, isName } from "./address.ts";
import { placedIssues } from "./errors.ts";
import type { AnyTwinDefinition } from "./twin.ts";

const dnsAlias = z
  .string()
  .refine(isHostName, "must be a host name, such as search.example.com")
  .refine((name) => hostName(name) !== "localhost", "must not be localhost, which is the gateway itself");

const fileSchema = z.strictObject({
  version: z.literal(1, "must be 1"),
  services: z.array(
    z.strictObject({
      name: z.string(),
      /** Handed to the twin as it stands, which checks it. */
      config: z.unknown().optional(),
      /** Host names whose requests are this twin's. */
      dns_aliases: z.array(dnsAlias).default([]),
    }),
  ),
});

/** A service of the environment, its config checked by its twin. */
export interface EnvironmentService {
  definition: AnyTwinDefinition;
  config: unknown;
  /** In lower case. */
  dnsAliases: string[];
}

export interface Environment {
  services: EnvironmentService[];
}

/** An environment file that is wrong, with every mistake. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

interface Mistake {
  path: PropertyKey[];
  rule: string;
}

/**
 * Reads the text of an environment file.
 * @param file its name, for messages.
 * @param known the twins there are.
 * @throws EnvironmentError with one line (`file:line: where: rule`) per mistake.
 */
export function readEnvironment(
  text: string,
  file: string,
  known: readonly AnyTwinDefinition[],
): Environment {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [syntax] = document.errors;
  if (syntax) throw new EnvironmentError(`${file}:${lines.linePos(syntax.pos[0]).line}: ${syntax.message}`);
  const reading = fileSchema.safeParse(document.toJS({ maxAliasCount: 100 }));
  const mistakes: Mistake[] = reading.success ? [] : mistakesOf(reading.error, []);
  const services: EnvironmentService[] = [];
  if (reading.success) {
    reading.data.services.forEach((service, index) => {
      const path = ["services", index];
      const definition = known.find(({ name }) => name === service.name);
      if (!definition) {
        const names = known.map(({ name }) => name).join(", ");
        mistakes.push({
          path: [...path, "name"],
          rule: `there is no service "${service.name}"; known are ${names}`,
        });
        return;
      }
      if (services.some((other) => other.definition === definition)) {
        mistakes.push({ path: [...path, "name"], rule: `service "${service.name}" is listed twice` });
      }
      const config = definition.config.safeParse(service.config ?? {});
      if (!config.success) mistakes.push(...mistakesOf(config.error, [...path, "config"]));
      const dnsAliases = service.dns_aliases.map(hostName);
      dnsAliases.forEach((alias, position) => {
        if (!services.some((other) => other.dnsAliases.includes(alias))) return;
        mistakes.push({
          path: [...path, "dns_aliases", position],
          rule: `${alias} belongs to another service already`,
        });
      });
      services.push({ definition, config: config.data, dnsAliases });
    });
  }
  if (mistakes.length > 0)
    throw new EnvironmentError(mistakes.map((mistake) => say(mistake, file, document, lines)).join("\n"));
  return { services };
}

function mistakesOf(error: z.ZodError, prefix: PropertyKey[]): Mistake[] {
  return placedIssues(error).map(({ path, rule }) => ({ path: [...prefix, ...path], rule }));
}

function say({ path, rule }: Mistake, file: string, document: Document, lines: LineCounter): string {
  const where = path.map(String).join(".");
  return `${file}:${lineOf(path, document, lines)}: ${where === "" ? "" : `${where}: `}${rule}`;
}

/** The line of a key, or of the nearest thing around it that the file has. */
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

function isHostName(text: string): boolean {
  const name = hostName(text);
  return name.length <= 253 && name === text.toLowerCase() && name.split(".").every((label) => isName(label));
}
