/** The indices of one twin: those in its store, and what the twin keeps about them beside it. */
import type { FieldCatalog } from "@offhook/log-store/fields";
import type { LogStore } from "@offhook/log-store/store/log-store";
import type { Clock } from "@offhook/platform/base/clock";
import type { Fidelity } from "../vendor/fidelity.ts";
import type { Aliases, AliasTarget, AliasTargets } from "./aliases.ts";
import { ownMapping } from "./own-mapping.ts";
import type { Templates } from "./templates.ts";
import type { FieldViews } from "./visible-fields.ts";

export interface IndexRegistry {
  /** Opened by the first request that needs it. */
  store(): Promise<LogStore>;
  readonly fidelity: Fidelity;
  /** The sandbox's: `now` in a query, and every timestamp in an answer. */
  readonly clock: Clock;
  /** The index of the dataset's rows that have no `_index` of their own. */
  readonly index: string;
  /** Aliases of the dataset's indices, by index. */
  readonly datasetAliases: Map<string, Aliases>;
  readonly fieldViews: FieldViews;
  /** Applied to every index that is created. */
  readonly templates: Templates;
}

/** Names of the indices in alphabetical order: those with events, the created ones and the service's own. */
export async function knownIndices(registry: Pick<IndexRegistry, "store" | "index">): Promise<string[]> {
  return [...(await countIndices(registry)).keys()];
}

/** How many events each index has. */
export async function countIndices({
  store,
  index,
}: Pick<IndexRegistry, "store" | "index">): Promise<ReadonlyMap<string, number>> {
  const opened = await store();
  const created = [...opened.fields.indices.keys()].map((name): [string, number] => [name, 0]);
  const counts = new Map([[index, 0], ...created, ...(await opened.counts())]);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The aliases of one index. */
export function aliasesOf(
  index: string,
  fields: FieldCatalog,
  { datasetAliases }: Pick<IndexRegistry, "datasetAliases">,
): Aliases {
  return ownMapping(fields, index)?.described.aliases ?? datasetAliases.get(index) ?? {};
}

/** The indices of every alias, aliases in alphabetical order. In `specification` there are no aliases. */
export async function aliasTargets(
  registry: Pick<IndexRegistry, "fidelity" | "datasetAliases" | "store">,
): Promise<AliasTargets> {
  const targets = new Map<string, AliasTarget[]>();
  if (registry.fidelity !== "vendor") return targets;
  const { fields } = await registry.store();
  for (const index of [...fields.indices.keys(), ...registry.datasetAliases.keys()].sort()) {
    for (const [alias, { is_write_index }] of Object.entries(aliasesOf(index, fields, registry))) {
      const isWriteIndex = is_write_index === undefined ? undefined : is_write_index === true;
      targets.set(alias, [...(targets.get(alias) ?? []), { index, isWriteIndex }]);
    }
  }
  return new Map([...targets].sort(([a], [b]) => (a < b ? -1 : 1)));
}
