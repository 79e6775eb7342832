/** The indices there are: those that were made, and the names that events were written under. */
import type { SearchTwin } from "../search-twin.ts";

type Indices = Pick<SearchTwin, "store" | "index">;

/** Names of the indices, the service's own among them, in their order. */
export async function knownIndices(twin: Indices): Promise<string[]> {
  return [...(await countIndices(twin)).keys()];
}

/** How many events each index has. */
export async function countIndices({ store, index }: Indices): Promise<ReadonlyMap<string, number>> {
  const opened = await store();
  const made = [...opened.fields.indices.keys()].map((name): [string, number] => [name, 0]);
  const counts = new Map([[index, 0], ...made, ...(await opened.counts())]);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
