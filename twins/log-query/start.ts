/** Starts the log-query twin of one sandbox. */
import { openLogStore } from "../datasets/store/duckdb-log-store.ts";
import type { LogStore } from "../datasets/store/log-store.ts";
import type { TwinContext } from "../sandbox/twin.ts";
import { DEFAULT_PROFILE, unknownProfile } from "../sandbox/world.ts";
import { restRows } from "./api/rest-rows.ts";
import { Channels } from "./collector/channels.ts";
import type { LogQueryConfig } from "./config.ts";
import { JobBook } from "./jobs/job-book.ts";
import type { LogQueryTwin } from "./log-query-twin.ts";
import { openWorld } from "./world/open-world.ts";

export async function startLogQueryTwin(
  context: TwinContext,
  { index, time_zone }: LogQueryConfig,
): Promise<LogQueryTwin> {
  const { clock, log } = context;
  let opened: Promise<LogStore> | undefined;
  let current: LogStore | undefined;
  const baselineFile = () => context.dataset?.()?.file;
  const store = () => {
    opened ??= open(baselineFile(), index, log);
    opened.then(
      (store) => {
        current = store;
      },
      // The next request tries again.
      () => {
        opened = undefined;
      },
    );
    return opened;
  };
  const { world, tables, knowledge, writer, seed } = openWorld({
    store,
    opened: () => current,
    index,
    clock,
    jobResults: (job) => jobs.results(job),
    rest: (path) => restRows(twin, path),
  });
  const jobs = new JobBook({ tables, clock, knowledge, store, timeZone: time_zone, log });
  const channels = new Channels();
  // With the tokens goes what was promised to who has them.
  tables.watch(({ table, change }) => {
    if (table === "hec_tokens" && change === "reset") channels.clear();
  });
  await seed();
  const twin: LogQueryTwin = {
    world,
    jobs,
    address: context.url,
    tables,
    knowledge,
    writer,
    channels,
    store,
    clock,
    startedMs: Math.floor(clock.now()),
    index,
    timeZone: time_zone,
    log,
    async reset(profile) {
      if (profile !== undefined && profile !== DEFAULT_PROFILE) throw unknownProfile(profile);
      await seed();
      // A store that was never opened will open on what is then the baseline.
      await (await opened)?.reset({ file: baselineFile() });
    },
    async stop() {
      await jobs.stop();
      await (await opened)?.close();
    },
  };
  return twin;
}

function open(baselineFile: string | undefined, index: string, log: TwinContext["log"]): Promise<LogStore> {
  return openLogStore({
    index,
    log,
    fitting: "free",
    textIndex: "raw",
    beyondMemory: "disk",
    ...(baselineFile === undefined ? {} : { baselineFile }),
  });
}
