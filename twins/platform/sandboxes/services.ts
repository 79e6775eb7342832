/** The services of a sandbox as the environment file and `POST /sandboxes` name them, checked by their twins. */
import { isIP } from "node:net";
import { z } from "zod";
import { hostName, isName } from "../http/address.ts";
import { placedIssues } from "../http/errors.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";
import { loadTwin, type TwinEntry } from "../twin/twin-entry.ts";

/** The engine's service name. Every sandbox has it, listed or not, and it answers at the root. */
export const ENGINE = "engine";

const dnsAlias = z
  .string()
  .refine(isHostName, "must be a host name, such as search.example.com")
  .refine(
    (name) => !isOwnHost(hostName(name)),
    "must not be localhost or an IP address: that is the gateway itself",
  );

const serviceSchema = z.strictObject({
  name: z.string(),
  /** Passed unchanged to the twin, which checks it. */
  config: z.unknown().optional(),
  /** Profile loaded at start, and by a reset that names none. */
  profile: z.string().min(1).optional(),
  /** File of the dataset, for a service that takes one. */
  dataset: z.string().min(1).optional(),
  /** The service's own port, with the vendor API at its root; 0 takes a free one. */
  port: z.int("must be a port").min(0).max(65_535).optional(),
  /** Host names that lead to this twin. */
  dns_aliases: z.array(dnsAlias).default([]),
});

type GivenService = z.output<typeof serviceSchema>;

/** A service, its config checked by its twin. */
export interface CheckedService {
  definition: AnyTwinDefinition;
  config: unknown;
  profile?: string;
  /** File of its dataset, as written. */
  dataset?: string;
  port?: number;
  /** In lower case. */
  dnsAliases: string[];
}

/** A problem and its place. */
export interface Mistake {
  path: PropertyKey[];
  rule: string;
}

/**
 * The schema of a list of services. Reports the mistakes of shape together with those that twins find in their configs.
 * Parse it asynchronously, since it loads the named twins.
 */
export function servicesSchema(known: readonly TwinEntry[]): z.ZodType<CheckedService[]> {
  return z.unknown().transform(async (given, context) => {
    const reading = z.array(serviceSchema).safeParse(given);
    const checked = await checkServices(reading.success ? reading.data : readableOf(given), known);
    const mistakes = [...(reading.success ? [] : mistakesOf(reading.error)), ...checked.mistakes];
    for (const { path, rule } of mistakes) {
      context.issues.push({ code: "custom", path, message: rule, input: given });
    }
    return checked.services;
  });
}

/** The services of an invalid list without their invalid members; `undefined` for a service that cannot be read. */
function readableOf(given: unknown): (GivenService | undefined)[] {
  if (!Array.isArray(given)) return [];
  return given.map((service: unknown) => {
    if (typeof service !== "object" || service === null) return undefined;
    const sound = Object.entries(serviceSchema.shape).flatMap(([name, member]) => {
      const reading = member.safeParse(Reflect.get(service, name));
      return reading.success ? [[name, reading.data]] : [];
    });
    return serviceSchema.safeParse(Object.fromEntries(sound)).data;
  });
}

async function checkServices(
  given: readonly (GivenService | undefined)[],
  known: readonly TwinEntry[],
): Promise<{ services: CheckedService[]; mistakes: Mistake[] }> {
  const definitions = await Promise.all(given.map((service) => service && loadTwin(known, service.name)));
  const services: CheckedService[] = [];
  const mistakes: Mistake[] = [];
  given.forEach((service, index) => {
    if (!service) return;
    const mistake = (rule: string, ...where: PropertyKey[]) =>
      mistakes.push({ path: [index, ...where], rule });
    const definition = definitions[index];
    if (!definition) {
      const names = known.map(({ name }) => name).join(", ");
      mistake(`there is no service "${service.name}"; known are ${names}`, "name");
      return;
    }
    if (services.some((other) => other.definition === definition)) {
      mistake(`service "${service.name}" is listed twice`, "name");
    }
    const config = definition.config.safeParse(service.config ?? {});
    if (!config.success) mistakes.push(...mistakesOf(config.error, [index, "config"]));
    if (service.dataset !== undefined && !definition.takesDataset) {
      mistake(`service "${service.name}" takes no dataset`, "dataset");
    }
    if (service.port !== undefined && !speaksHttp(definition)) {
      mistake(`service "${service.name}" is not reached over HTTP, so it takes no port`, "port");
    }
    if (service.port && services.some((other) => other.port === service.port)) {
      mistake(`port ${service.port} belongs to another service already`, "port");
    }
    const dnsAliases = service.dns_aliases.map(hostName);
    dnsAliases.forEach((alias, position) => {
      if (!services.some((other) => other.dnsAliases.includes(alias))) return;
      mistake(`${alias} belongs to another service already`, "dns_aliases", position);
    });
    services.push({
      definition,
      config: config.data,
      dnsAliases,
      ...(service.profile === undefined ? {} : { profile: service.profile }),
      ...(service.dataset === undefined ? {} : { dataset: service.dataset }),
      ...(service.port === undefined ? {} : { port: service.port }),
    });
  });
  return { services, mistakes };
}

/** Adds the engine to the services, if it is available. */
export async function withEngine(
  services: readonly CheckedService[],
  known: readonly TwinEntry[],
): Promise<CheckedService[]> {
  if (services.some(({ definition }) => definition.name === ENGINE)) return [...services];
  const engine = await loadTwin(known, ENGINE);
  if (!engine) return [...services];
  return [{ definition: engine, config: engine.config.parse({}), dnsAliases: [] }, ...services];
}

export function mistakesOf(error: z.ZodError, prefix: PropertyKey[] = []): Mistake[] {
  return placedIssues(error).map(({ path, rule }) => ({ path: [...prefix, ...path], rule }));
}

function speaksHttp(definition: AnyTwinDefinition): boolean {
  return definition.operations.length > 0 || (definition.sockets ?? []).length > 0;
}

/** Whether a name is the gateway's own: a twin that claimed it would receive all requests, including keys. */
function isOwnHost(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}

function isHostName(text: string): boolean {
  const name = hostName(text);
  return name.length <= 253 && name === text.toLowerCase() && name.split(".").every((label) => isName(label));
}
