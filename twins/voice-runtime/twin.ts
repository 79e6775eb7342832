/** The voice runtime at work in one sandbox: its world, its calls, its providers. */

import { createMemoryWorld } from "../sandbox/memory-world.ts";
import type { RunningTwin, TwinContext } from "../sandbox/twin.ts";
import { DEFAULT_PROFILE, unknownProfile } from "../sandbox/world.ts";
import { sha256 } from "./api/authenticate.ts";
import { type AssistantStore, createAssistantStore } from "./calls/assistant-store.ts";
import { CallBook } from "./calls/call-book.ts";
import { type CallStore, createCallStore, type VoiceWorld } from "./calls/call-store.ts";
import { createSecretVault } from "./calls/secret-vault.ts";
import type { VoiceRuntimeConfig } from "./config.ts";
import { chooseProviders, type EmbeddedSpeech, readScriptFile } from "./providers/choose.ts";
import type { ScriptRule } from "./providers/script.ts";
import type { CreateSession } from "./session/contract.ts";
import { tables } from "./world.ts";

/** The key the seeded world accepts. */
export const SEED_KEY = "vapi-twin-key";
/** Script of every call that has none of its own. */
const EVERY_CALL = "*";
const SHUT_DOWN = "worker-shutdown";
const SERVICE_RESTART = 1012;

export interface VoiceRuntimeTwin extends RunningTwin {
  world: VoiceWorld;
  store: CallStore;
  calls: CallBook;
  assistants: AssistantStore;
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
  const script = config.script ? await readScriptFile(context.resolvePath(config.script)) : undefined;
  await world.load(seed(script));
  const vault = createSecretVault();
  const store = createCallStore({ world, clock, vault, url, log });
  const providers = await chooseProviders({
    config,
    embedded: parts.embedded,
    rulesFor: (simulationId) => rulesFor(world, simulationId),
    resolvePath: context.resolvePath,
    variable: context.variable,
    log,
  });
  const calls = new CallBook({
    store,
    providers,
    createSession: parts.createSession,
    orgId: config.org_id,
    concurrencyLimit: config.concurrency_limit,
    connectTimeoutMs: config.connect_timeout_seconds * 1000,
    toolArguments: config.tool_arguments,
    oddFrames: config.odd_frames,
    callbackDestination: () => context.callbackDestination?.(),
    log,
  });
  const forgetReset = world.watch((change) => {
    if (change.change === "reset") void calls.endAll(SHUT_DOWN, SERVICE_RESTART);
  });
  return {
    world,
    store,
    calls,
    assistants: createAssistantStore(world, clock, vault, config.org_id),
    spoken: (simulationId) => store.spoken(simulationId),
    async reset(profile) {
      if (profile !== undefined && profile !== DEFAULT_PROFILE) throw unknownProfile(profile);
      await calls.endAll(SHUT_DOWN, SERVICE_RESTART);
      await world.load(seed(script));
    },
    async stop() {
      forgetReset();
      await calls.endAll(SHUT_DOWN, SERVICE_RESTART);
      await providers.close();
    },
  };
}

function seed(script: ScriptRule[] | undefined) {
  return {
    api_keys: [{ id: "seed", key_sha256: sha256(SEED_KEY) }],
    scripts: script ? [{ simulation_id: EVERY_CALL, rules: script }] : [],
  };
}

function rulesFor(world: VoiceWorld, simulationId: string | undefined): readonly ScriptRule[] | undefined {
  const scripts = world.table("scripts");
  return (
    (simulationId === undefined ? undefined : scripts.get(simulationId)?.rules) ??
    scripts.get(EVERY_CALL)?.rules
  );
}
