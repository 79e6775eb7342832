/** The indices there are: nominal names, each with the events that were written under it. */
import { sql } from "../../datasets/sql.ts";
import type { LogStore } from "../../datasets/store/log-store.ts";
import type { SearchTwin } from "../search-twin.ts";

/** Names of the indices, the service's own among them, in their order. */
export async function knownIndices(twin: Pick<SearchTwin, "store" | "index">): Promise<string[]> {
  return [...(await countIndices(twin)).keys()];
}

interface Counted {
  stateVersion: number;
  counts: Promise<ReadonlyMap<string, number>>;
}

const counted = new WeakMap<LogStore, Counted>();

/** How many events each index has; counted anew when the store has changed. */
export async function countIndices({
  store,
  index,
}: Pick<SearchTwin, "store" | "index">): Promise<ReadonlyMap<string, number>> {
  const opened = await store();
  const { stateVersion } = opened;
  let known = counted.get(opened);
  if (known?.stateVersion !== stateVersion) {
    known = { stateVersion, counts: count(opened, index) };
    known.counts.catch(() => counted.delete(opened));
    counted.set(opened, known);
  }
  return known.counts;
}

async function count(store: LogStore, own: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await store.query(sql`SELECT _index, count(*) FROM documents GROUP BY _index`);
  const counts = new Map([
    [own, 0],
    ...rows.map(([name, number]) => [String(name), Number(number)] as const),
  ]);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
