/** Starts the search twin of one sandbox. */
import { LazyStore } from "@offhook/log-store/store/lazy-store";
import { translatorOf } from "@offhook/log-store/translator/config";
import { EventWorld } from "@offhook/log-store/world/event-world";
import type { TwinContext } from "@offhook/platform/twin/twin";
import { DEFAULT_PROFILE, unknownProfile } from "@offhook/platform/world/world";
import type { SearchConfig } from "./config.ts";
import { DocumentWriter } from "./documents/document-writer.ts";
import { AsyncQueries } from "./esql/async-queries.ts";
import type { Aliases } from "./indices/aliases.ts";
import { readDefinition } from "./indices/own-indices.ts";
import { OwnMapping } from "./indices/own-mapping.ts";
import { Templates } from "./indices/templates.ts";
import { FieldViews } from "./indices/visible-fields.ts";
import { TermStatisticsCache } from "./query/term-statistics.ts";
import { createOpenSearches, endSearches } from "./search/open-searches.ts";
import type { SearchTwin } from "./search-twin.ts";

export async function startSearchTwin(
  context: TwinContext,
  { fidelity, index, model, translator }: SearchConfig,
): Promise<SearchTwin> {
  const { clock, log, variable, storeLimitBytes: limitBytes } = context;
  const store = new LazyStore({ index, log, limitBytes }, () => context.dataset?.()?.file);
  const searches = createOpenSearches(clock);
  const loading = loadAhead();
  const datasetAliases = new Map<string, Aliases>();
  const templates = new Templates();
  const mappingOfNew = (name: string) => {
    const made = templates.apply(name, {});
    return new OwnMapping(name, readDefinition(made, Math.floor(clock.now()), new Set()));
  };
  return {
    world: new EventWorld({
      store: store.open,
      opened: () => store.opened,
      whenOpened: store.whenOpened,
      index,
      readMapping: fidelity === "vendor" ? OwnMapping.read : undefined,
    }),
    store: store.open,
    documents: new DocumentWriter(store.open, {
      index,
      ...(fidelity === "vendor" ? { mappingOfNew } : {}),
    }),
    termStatistics: new TermStatisticsCache(),
    open: searches,
    esqlQueries: new AsyncQueries(),
    fidelity,
    clock,
    startedMs: Math.floor(clock.now()),
    index,
    datasetAliases,
    fieldViews: new FieldViews(),
    templates,
    translator: translatorOf(model, variable),
    translatorOrder: translator,
    log,
    health: store.health,
    async reset(profile) {
      if (profile !== undefined && profile !== DEFAULT_PROFILE) throw unknownProfile(profile);
      endSearches(searches);
      datasetAliases.clear();
      templates.clear();
      await store.reset();
    },
    async stop() {
      await loading;
      await store.close();
    },
  };
}

/**
 * Loads what queries need, DuckDB above all, once the twin already answers: so neither the start nor the first query
 * waits for it.
 */
async function loadAhead(): Promise<void> {
  try {
    await import("@offhook/log-store/store/duckdb-log-store");
    await Promise.all([import("./aggregations/aggregations.ts"), import("./esql/run.ts")]);
  } catch {
    // The first request that needs it fails with the reason.
  }
}
