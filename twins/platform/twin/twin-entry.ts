/** A twin as the registry lists it: known by its name before any of its code is loaded. */
import type { AnyTwinDefinition } from "./twin.ts";

export interface TwinEntry {
  /** The name of its definition. */
  readonly name: string;
  /** Loads its code; further calls find it loaded. */
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

/** Entries of twins whose code is there already. */
export function entriesOf(definitions: readonly AnyTwinDefinition[]): TwinEntry[] {
  return definitions.map((definition) => ({
    name: definition.name,
    load: async () => ({ default: definition }),
  }));
}
