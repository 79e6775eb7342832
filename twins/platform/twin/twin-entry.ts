/** A twin as the registry lists it: known by its name before any of its code is loaded. */
import type { AnyTwinDefinition } from "./twin.ts";

export interface TwinEntry {
  /** The name of its definition. */
  readonly name: string;
  /** Loads its code, once. */
  load(): Promise<{ default: AnyTwinDefinition }>;
}

/** The definition of this name, its code loaded; `undefined`: there is no such twin. */
export async function loadTwin(
  known: readonly TwinEntry[],
  name: string,
): Promise<AnyTwinDefinition | undefined> {
  const loaded = await known.find((entry) => entry.name === name)?.load();
  return loaded?.default;
}

/** Every definition there is. */
export function loadTwins(known: readonly TwinEntry[]): Promise<AnyTwinDefinition[]> {
  return Promise.all(known.map(async ({ load }) => (await load()).default));
}

/** Wraps a loaded definition as an entry. */
export function entryOf(twin: TwinEntry | AnyTwinDefinition): TwinEntry {
  return "load" in twin ? twin : { name: twin.name, load: async () => ({ default: twin }) };
}

/** An entry of the package `@offhook/<name>`. If the package is missing, `load` throws an Error that says what to install. */
export function packagedTwin(name: string, load: TwinEntry["load"]): TwinEntry {
  return {
    name,
    load: () => load().catch((error: unknown) => Promise.reject(explainMissingPackage(error, name))),
  };
}

function explainMissingPackage(error: unknown, name: string): unknown {
  const packageName = `@offhook/${name}`;
  const isMissing =
    error instanceof Error &&
    "code" in error &&
    error.code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(`'${packageName}'`);
  if (!isMissing) return error;
  return new Error(
    `the service ${name} needs the package ${packageName}, which is not here: restore twins/${name} and run npm install, or run npm install ${packageName}`,
    { cause: error },
  );
}
