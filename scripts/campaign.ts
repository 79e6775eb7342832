/** `npm run campaign`: many calls, judged once each, by any number of workers. `USAGE` says how. */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SandboxError } from "@offhook/caller/sandbox-client";
import { findScenarioFiles, readScenario, type Scenario, ScenarioError } from "@offhook/caller/scenario-file";
import type { CampaignFile } from "@offhook/campaign/campaign-file";
import { CallQueue } from "@offhook/campaign/queue";
import type { Campaign } from "@offhook/campaign/records";
import { type CampaignReport, reportOf } from "@offhook/campaign/report";
import { toJson } from "@offhook/campaign/report/json";
import { toJunit } from "@offhook/campaign/report/junit";
import { toMarkdown } from "@offhook/campaign/report/markdown";
import { toText } from "@offhook/campaign/report/text";
import { CampaignError, CampaignStore } from "@offhook/campaign/store";
import { Worker } from "@offhook/campaign/worker";
import { UsageError } from "@offhook/platform/server/command-line";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { OwnFolderError } from "@offhook/platform/server/locator";
import { ConfigError } from "../agent/config.ts";
import { startCrew } from "./campaign/crew.ts";
import { DatabaseError, leaseDatabase } from "./campaign/database.ts";
import { type CommandLine, readCommandLine, USAGE, type WorkOptions } from "./campaign/options.ts";
import { openPlaces, twinsOf } from "./campaign/places.ts";
import { describe, printProgress } from "./campaign/progress.ts";
import { requireStartable } from "./campaign/startable.ts";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import { startPartsTelemetry } from "./shared/telemetry.ts";
import { terminalOf } from "./shared/terminal.ts";

const ENVIRONMENT_FILE = ".env";
const NOTHING_DONE = 2;
const INTERRUPTED = 130;
const FINISHING = "finishing the calls that run; once more to end at once";
/** The terminal, npm and tsx each deliver a signal; repeats within this time count as one. */
const SAME_SIGNAL_MS = 500;
const KNOWN_ERRORS = [
  UsageError,
  CampaignError,
  ScenarioError,
  SandboxError,
  DatabaseError,
  OwnFolderError,
  ConfigError,
];
const FORMATS = {
  markdown: toMarkdown,
  json: (report: CampaignReport) => `${JSON.stringify(toJson(report), null, 2)}\n`,
  junit: toJunit,
};

const terminal = terminalOf(process.stdout);

// Whoever reads a list or a report may have enough of it, as `head` has. What places calls ends by `onEnd`.
onReaderGone(() => undefined);

try {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  process.exitCode = await run(readCommandLine(process.argv.slice(2)));
} catch (error) {
  const expected = KNOWN_ERRORS.some((kind) => error instanceof kind);
  console.error(error instanceof Error && expected ? error.message : error);
  process.exitCode = NOTHING_DONE;
}

/** @returns the exit status */
async function run(line: CommandLine | undefined): Promise<number> {
  if (line === undefined) {
    console.log(USAGE);
    return 0;
  }
  const scenarios = line.command === "start" ? readScenarios(line.file) : [];
  if (line.command === "start") {
    const { detached, work, file } = line;
    const twins = detached ? "elsewhere" : twinsOf(work.twins, work.key ?? process.env.SANDBOX_API_KEY);
    await requireStartable(file, scenarios, twins);
  }
  const lease = await leaseDatabase(process.env);
  try {
    if (line.command === "worker") return await work(line.work, lease.url);
    const store = await CampaignStore.open(lease.url);
    try {
      return await runWith(store, line, scenarios);
    } finally {
      await store.close();
    }
  } finally {
    await lease.release();
  }
}

async function runWith(
  store: CampaignStore,
  line: Exclude<CommandLine, { command: "worker" }>,
  scenarios: readonly Scenario[],
): Promise<number> {
  switch (line.command) {
    case "start": {
      const campaign = await create(store, line.file, scenarios);
      await offer(store, campaign);
      terminal.line(`campaign ${campaign.id}: ${campaign.expectedCalls} calls`);
      return line.detached ? 0 : workOff(store, campaign, line.work);
    }
    case "resume": {
      const campaign = await store.readCampaign(line.id);
      if (campaign.endedAt !== null)
        throw new CampaignError(`campaign ${line.id} ended at ${campaign.endedAt}`);
      await offer(store, campaign);
      return workOff(store, campaign, line.work);
    }
    case "cancel":
      await store.cancelCampaign(line.id);
      terminal.line(`campaign ${line.id} begins no further call; resume ${line.id} goes on with it`);
      return 0;
    case "status":
    case "list":
      for (const campaign of await campaignsFor(store, line)) await printCampaign(store, campaign);
      return 0;
    case "report": {
      const report = await reportFor(store, await store.readCampaign(line.id), line.baseline);
      process.stdout.write(FORMATS[line.format](report));
      return statusOf(report);
    }
  }
}

/** @throws ScenarioError when one cannot be used */
function readScenarios({ scenarios }: CampaignFile): Scenario[] {
  const samples = readSampleLibrary(SAMPLES_FOLDER);
  return findScenarioFiles(scenarios, SCENARIOS_FOLDER).map((file) => readScenario(file, samples));
}

async function create(
  store: CampaignStore,
  { name, baseline, ...file }: CampaignFile,
  scenarios: readonly Scenario[],
): Promise<Campaign> {
  const texts = new Map(scenarios.map((scenario) => [scenario.name, scenario.text]));
  const names = [...texts.keys()];
  const spec = { ...file, scenarios: names };
  return store.createCampaign({
    name: name ?? names.join(", ").slice(0, 100),
    spec,
    scenarios: texts,
    baseline,
  });
}

/** Puts the calls without a verdict into the queue. */
async function offer(store: CampaignStore, campaign: Campaign): Promise<void> {
  const queue = await CallQueue.open(store, ({ message }) => console.error(message));
  await queue.offer(campaign);
  await queue.close();
}

/** Works a campaign off with worker processes. @returns the exit status */
async function workOff(store: CampaignStore, campaign: Campaign, options: WorkOptions): Promise<number> {
  const crew = startCrew(campaign.id, options);
  let interrupted = false;
  onEnd(() => {
    terminal.line(`\n${FINISHING}`);
    interrupted = true;
    crew.finish();
  }, crew.endAtOnce);
  const stopProgress = printProgress({ store, campaign, terminal, stream: process.stdout });
  const worked = await crew.ended;
  await stopProgress();
  if (interrupted) {
    terminal.line(`npm run campaign -- resume ${campaign.id}  goes on`);
    return INTERRUPTED;
  }
  const report = await reportFor(store, await store.readCampaign(campaign.id), undefined);
  process.stdout.write(`\n${toText(report, process.stdout.columns)}`);
  return worked ? statusOf(report) : NOTHING_DONE;
}

/** Places calls until its campaign is complete, or for ever. @returns the exit status */
async function work(options: WorkOptions, databaseUrl: string): Promise<number> {
  const { campaign, concurrency, agent, twins, key, workers } = options;
  if (workers > 1) throw new UsageError("worker is one process: start several, or use start --workers");
  const token = process.env.VOICE_TOKEN ?? "";
  const telemetry = await startPartsTelemetry();
  const places = await openPlaces({
    agents: agent,
    twins: twinsOf(twins, key ?? process.env.SANDBOX_API_KEY),
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    telemetry,
  });
  try {
    const worker = await Worker.start({
      databaseUrl,
      name: `${hostname()}:${process.pid}`,
      concurrency,
      campaign,
      place: places.place,
      onEvent: (event) => {
        if (event.type === "waiting") console.error(`waiting for the database: ${event.reason}`);
        if (event.type === "returned")
          console.error(`${event.calls} calls of workers that are gone begin again`);
        if (event.type === "given-back") {
          const { scenario, variant, repeat } = event.call.key;
          console.error(`${scenario} (${variant}, ${repeat}) was not judged: ${event.reason}`);
        }
        if (event.type === "judged") {
          const { verdict, scenario, variant, repeat, failures } = event.record;
          terminal.line([`${verdict} ${scenario} (${variant}, ${repeat})`, ...failures].join("\n  "));
        }
      },
    });
    terminal.line(
      `places calls of ${campaign === undefined ? "every campaign that runs" : `campaign ${campaign}`}, ${concurrency} at a time; Ctrl-C finishes those that run`,
    );
    onEnd(
      () => {
        terminal.line(FINISHING);
        worker.stop().catch(() => undefined); // `ended` says it.
      },
      () => {
        places.abandon();
        process.exit(INTERRUPTED);
      },
    );
    await worker.ended;
    return 0;
  } finally {
    await places.close();
    await telemetry.stop();
  }
}

async function campaignsFor(
  store: CampaignStore,
  line: { command: "status"; id: string | undefined } | { command: "list" },
): Promise<Campaign[]> {
  if (line.command === "list") return store.listCampaigns();
  return line.id === undefined ? store.listRunning() : [await store.readCampaign(line.id)];
}

async function printCampaign(store: CampaignStore, campaign: Campaign): Promise<void> {
  const { id, name, endedAt, cancelled, createdAt, expectedCalls } = campaign;
  const state = endedAt === null ? (cancelled ? "cancelled" : "running") : `ended ${endedAt}`;
  const counts = describe(await store.countVerdicts(id), expectedCalls, undefined);
  terminal.line(`${id}  ${state}, started ${createdAt}  ${counts}  ${name}`);
}

/** @param baseline id of the campaign to compare with; default: the one it was started with */
async function reportFor(
  store: CampaignStore,
  campaign: Campaign,
  baseline: string | undefined,
): Promise<CampaignReport> {
  const id = baseline ?? campaign.baseline;
  const other =
    id === null ? undefined : { campaign: await store.readCampaign(id), records: store.records(id) };
  return reportOf(campaign, store.records(campaign.id), other);
}

/** @returns the exit status */
function statusOf({ total, campaign }: CampaignReport): number {
  if (total.calls < campaign.expectedCalls) return NOTHING_DONE;
  return total.passed === total.calls ? 0 : 1;
}

/**
 * @param finish called once: with the first signal, or when the terminal or npm is gone
 * @param endAtOnce called when a signal comes again, or with SIGQUIT
 */
function onEnd(finish: () => void, endAtOnce: () => void): void {
  let finishingSinceMs: number | undefined;
  const finishOnce = () => {
    if (finishingSinceMs !== undefined) return;
    finishingSinceMs = performance.now();
    finish();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (finishingSinceMs === undefined) finishOnce();
      else if (performance.now() - finishingSinceMs > SAME_SIGNAL_MS) endAtOnce();
    });
  }
  process.on("SIGQUIT", endAtOnce);
  onReaderGone(finishOnce);
  onNpmGone(finishOnce);
}
