/** Starts the log-query twin of one sandbox. */
import { LazyStore } from "@offhook/log-store/store/lazy-store";
import type { TwinContext } from "@offhook/platform/twin/twin";
import { DEFAULT_PROFILE, unknownProfile } from "@offhook/platform/world/world";
import { restRows } from "./api/rest-rows.ts";
import { Channels } from "./collector/channels.ts";
import { CollectorView } from "./collector/collector-view.ts";
import { Intake } from "./collector/intake.ts";
import type { LogQueryConfig } from "./config.ts";
import { JobBook } from "./jobs/job-book.ts";
import type { LogQueryTwin } from "./log-query-twin.ts";
import { Scheduler } from "./saved/scheduler.ts";
import { AccountRights, eventAccessOf } from "./world/access.ts";
import { openWorld } from "./world/open-world.ts";
import { SecretVault } from "./world/secret-vault.ts";
import { SEED_HEC_TOKEN } from "./world/seed.ts";

export async function startLogQueryTwin(
  context: TwinContext,
  { index, time_zone, webhook_hosts }: LogQueryConfig,
): Promise<LogQueryTwin> {
  const { clock, log, storeLimitBytes: limitBytes } = context;
  const store = new LazyStore(
    { index, log, limitBytes, fitting: "free", textIndex: "raw", beyondMemory: "disk" },
    () => context.dataset?.()?.file,
  );
  const { world, tables, knowledge, writer, seed } = openWorld({
    store: store.open,
    opened: () => store.opened,
    whenOpened: store.whenOpened,
    index,
    clock,
    jobResults: (job, which, user) => jobs.results(job, which, user),
    rest: (path, _args, user) => restRows(twin, path, user),
  });
  const access = (owner: string) => eventAccessOf(tables, owner, index);
  const jobs = new JobBook({ tables, clock, knowledge, store: store.open, timeZone: time_zone, access, log });
  const channels = new Channels();
  const intake = new Intake();
  const ending = new AbortController();
  // Acknowledgements belong to the tokens.
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
    collector: new CollectorView(tables),
    channels,
    intake,
    rights: new AccountRights(tables),
    secrets: new SecretVault([SEED_HEC_TOKEN]),
    store: store.open,
    clock,
    startedMs: Math.floor(clock.now()),
    index,
    timeZone: time_zone,
    webhookHosts: webhook_hosts,
    ending: ending.signal,
    log,
    health: store.health,
    async reset(profile) {
      if (profile !== undefined && profile !== DEFAULT_PROFILE) throw unknownProfile(profile);
      // First the store, which may be full: then the tables keep their state, too.
      await store.reset();
      await seed();
    },
    async stop() {
      ending.abort();
      intake.close();
      const idle = scheduler.stop();
      await jobs.stop();
      await idle;
      await store.close();
    },
  };
  const scheduler = new Scheduler(twin, clock);
  return twin;
}
