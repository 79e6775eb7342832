/** The voice runtime in one sandbox: its world, its calls, its providers. */

import type { RunningTwin, TwinContext } from "@offhook/platform/twin/twin";
import { createMemoryWorld } from "@offhook/platform/world/memory-world";
import { DEFAULT_PROFILE, unknownProfile } from "@offhook/platform/world/world";
import type { Logger } from "pino";
import { type AssistantStore, createAssistantStore } from "./calls/assistant-store.ts";
import { CallBook } from "./calls/call-book.ts";
import { type CallStore, createCallStore, type VoiceWorld } from "./calls/call-store.ts";
import { createSecretVault } from "./calls/secret-vault.ts";
import type { VoiceRuntimeConfig } from "./config.ts";
import { chooseProviders, type EmbeddedSpeech } from "./providers/choose.ts";
import { ScriptFile } from "./providers/script-file.ts";
import { RecordingStore } from "./recordings/recording-store.ts";
import { type SampleFolder, sampleFolderOf } from "./samples/sample-folder.ts";
import type { CreateSession } from "./session/contract.ts";
import { WebhookExchanges } from "./webhooks/exchanges.ts";
import { keyHash, tables } from "./world.ts";

/** The key the seeded world accepts. */
export const SEED_KEY = "vapi-twin-key";
/** Key of the script for calls without their own. */
const EVERY_CALL = "*";
const SHUT_DOWN = "worker-shutdown";
const SERVICE_RESTART = 1012;
const MEGABYTE = 1024 * 1024;

export interface VoiceRuntimeTwin extends RunningTwin {
  world: VoiceWorld;
  store: CallStore;
  calls: CallBook;
  recordings: RecordingStore;
  assistants: AssistantStore;
  exchanges: WebhookExchanges;
  config: VoiceRuntimeConfig;
  samples: SampleFolder;
  /** Reads the edited script file of all calls, if it was edited. */
  refreshScript(): void;
}

/** What a test may replace: the live call and the embedded speech. */
export interface VoiceRuntimeParts {
  createSession: CreateSession;
  embedded: EmbeddedSpeech;
}

export async function startVoiceRuntime(
  parts: VoiceRuntimeParts,
  context: TwinContext,
  config: VoiceRuntimeConfig,
): Promise<VoiceRuntimeTwin> {
  const { clock, log, url } = context;
  const world: VoiceWorld = createMemoryWorld(tables);
  const script = config.script ? openScript(context, config.script) : undefined;
  await world.load(seed(script));
  const vault = createSecretVault();
  const recordings = new RecordingStore(
    { calls: config.recordings.calls, bytes: config.recordings.megabytes * MEGABYTE },
    log,
  );
  const store = createCallStore({ world, clock, vault, recordings, url, log });
  const providers = await chooseProviders({
    config,
    embedded: parts.embedded,
    rulesFor: (simulationId) => {
      const own = simulationId === undefined ? undefined : world.table("scripts").get(simulationId);
      if (own !== undefined) return own.rules;
      refreshScript(script, world, log);
      return world.table("scripts").get(EVERY_CALL)?.rules;
    },
    resolvePath: context.resolvePath,
    fileError: context.fileError,
    variable: context.variable,
    log,
  });
  const exchanges = new WebhookExchanges(context.mask, () => clock.now());
  const calls = new CallBook({
    exchanges,
    store,
    recordings,
    providers,
    createSession: parts.createSession,
    orgId: config.org_id,
    concurrencyLimit: config.concurrency_limit,
    connectTimeoutMs: config.connect_timeout_seconds * 1000,
    toolArguments: config.tool_arguments,
    oddFrames: config.odd_frames,
    callbackDestination: () => context.callbackDestination?.(),
    telemetry: context.telemetry,
    log,
  });
  const unwatch = world.watch((change) => {
    if (change.change === "reset") {
      exchanges.clear();
      void recordings.clear();
      void calls.endAll(SHUT_DOWN, SERVICE_RESTART);
    } else if (change.change === "remove" && change.table === "calls") {
      recordings.remove(String(change.row?.id));
    }
  });
  return {
    world,
    store,
    calls,
    exchanges,
    recordings,
    config,
    samples: sampleFolderOf(config, context),
    refreshScript: () => refreshScript(script, world, log),
    assistants: createAssistantStore(world, clock, vault, config.org_id),
    spoken: (simulationId) => store.spoken(simulationId),
    async reset(profile) {
      if (profile !== undefined && profile !== DEFAULT_PROFILE) throw unknownProfile(profile);
      await calls.endAll(SHUT_DOWN, SERVICE_RESTART);
      refreshScript(script, world, log);
      await world.load(seed(script));
      await recordings.clear();
    },
    async stop() {
      unwatch();
      await calls.endAll(SHUT_DOWN, SERVICE_RESTART);
      await recordings.close();
      await providers.close();
    },
  };
}

function openScript({ resolvePath, fileError }: TwinContext, file: string): ScriptFile {
  const path = resolvePath(file);
  try {
    return new ScriptFile(path);
  } catch (error) {
    throw fileError(file, error);
  }
}

function seed(script: ScriptFile | undefined) {
  return {
    api_keys: [{ id: "seed", key_sha256: keyHash(SEED_KEY) }],
    scripts: script ? [{ simulation_id: EVERY_CALL, rules: script.rules }] : [],
  };
}

/** Reloads an edited script file, so that it serves the next turn; logs a broken one and keeps its last good rules. */
function refreshScript(script: ScriptFile | undefined, world: VoiceWorld, log: Logger): void {
  try {
    if (script === undefined || !script.refresh()) return;
  } catch (error) {
    log.error(
      { error: error instanceof Error ? error.message : String(error) },
      "the edited script is broken: the last good one stays in use",
    );
    return;
  }
  const scripts = world.table("scripts");
  if (scripts.update(EVERY_CALL, { rules: script.rules }) !== undefined) return;
  scripts.insert({ simulation_id: EVERY_CALL, rules: script.rules });
}
