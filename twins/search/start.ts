/** Starts the search twin of one sandbox. */

import { openLogStore } from "../datasets/store/duckdb-log-store.ts";
import type { LogStore } from "../datasets/store/log-store.ts";
import { translatorOf } from "../datasets/translator/config.ts";
import { resettable } from "../sandbox/baseline.ts";
import { createMemoryWorld } from "../sandbox/memory-world.ts";
import type { TwinContext } from "../sandbox/twin.ts";
import type { SearchConfig } from "./config.ts";
import { DocumentWriter } from "./documents/document-writer.ts";
import { createOpenSearches } from "./search/open-searches.ts";
import type { SearchTwin } from "./search-twin.ts";

export async function startSearchTwin(
  { clock, log, variable }: TwinContext,
  { fidelity, index, model, translator }: SearchConfig,
): Promise<SearchTwin> {
  let opened: Promise<LogStore> | undefined;
  const store = () => {
    opened ??= openLogStore();
    return opened;
  };
  const world = createMemoryWorld({});
  return {
    world,
    store,
    documents: new DocumentWriter(store),
    open: createOpenSearches(clock),
    fidelity,
    clock,
    startedMs: Math.floor(clock.now()),
    index,
    translator: translatorOf(model, variable),
    translatorOrder: translator,
    log,
    reset: await resettable(world),
    async stop() {
      await (await opened)?.close();
    },
  };
}
