/** The indices there are: nominal names, each with the events that were written under it. */
import type { SearchTwin } from "../search-twin.ts";

type Indices = Pick<SearchTwin, "store" | "index">;

/** Names of the indices, the service's own among them, in their order. */
export async function knownIndices(twin: Indices): Promise<string[]> {
  return [...(await countIndices(twin)).keys()];
}

/** How many events each index has. */
export async function countIndices({ store, index }: Indices): Promise<ReadonlyMap<string, number>> {
  const counts = new Map([[index, 0], ...(await (await store()).counts())]);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
