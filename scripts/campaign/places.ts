/** Where a worker's calls go: to twins and agents of its own, one sandbox and agent a slot, or to given addresses. */
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { type SandboxAddress, SandboxClient, SandboxError } from "@offhook/caller/sandbox-client";
import { type Callee, type CallOrder, type PlacedCall, placeCall } from "@offhook/campaign/place-call";
import { makeTemporaryFolder } from "@offhook/platform/base/temporary-folder";
import { UsageError } from "@offhook/platform/server/command-line";
import { voiceUrl } from "../shared/callee.ts";
import { SAMPLES_FOLDER } from "../shared/folders.ts";
import { type House, type Stage, startHouse } from "../shared/house.ts";
import type { PartsTelemetry } from "../shared/telemetry.ts";

export interface Places {
  place(order: CallOrder, slot: number): Promise<PlacedCall>;
  close(): Promise<void>;
  /** Removes what would outlive this process, which ends. */
  abandon(): void;
}

export interface PlacesOptions {
  /** Agents to call in turn, instead of the campaign's. */
  agents: readonly string[];
  /** The twins behind the given agents. */
  twins: SandboxAddress | undefined;
  headers: Record<string, string>;
  telemetry: PartsTelemetry;
}

const RESET_MS = 30_000;

/** Twins and agents start with the first call that needs them. */
export async function openPlaces({ agents, twins, headers, telemetry }: PlacesOptions): Promise<Places> {
  const samples = readSampleLibrary(SAMPLES_FOLDER);
  const folder = await makeTemporaryFolder(tmpdir(), "offhook-campaign-");
  const stages = new OwnStages(telemetry);
  let sandbox: Promise<SandboxClient> | undefined;

  /** @throws SandboxError */
  async function calleeOf({ campaign, variant, key }: CallOrder, slot: number): Promise<Callee> {
    const addresses = agents.length > 0 ? agents : campaign.spec.agents;
    const url = variant.agent ?? addresses[key.repeat % addresses.length];
    if (url === undefined) {
      const stage = await stages.enter(slot);
      return { url: stage.voiceUrl, sandbox: stage.sandbox };
    }
    if (twins !== undefined) {
      sandbox ??= SandboxClient.connect(twins);
      sandbox.catch(() => {
        sandbox = undefined;
      });
    }
    return { url: voiceUrl(url), sandbox: await sandbox, headers };
  }

  return {
    abandon: () => rmSync(folder.path, { recursive: true, force: true }),
    place: async (order, slot) => {
      const recordingFile = join(folder.path, `${slot}.wav`);
      try {
        const callee = await calleeOf(order, slot);
        return await placeCall(order, { callee, samples, recordingFile, telemetry: telemetry.caller });
      } catch (error) {
        await stages.leave(slot);
        throw error;
      }
    },
    close: async () => {
      await sandbox?.then(
        (client) => client.close(),
        () => undefined,
      );
      await stages.close();
      await folder.remove();
    },
  };
}

/** A sandbox and an agent for each slot, kept from call to call; what a call wrote is undone before the next. */
class OwnStages {
  #house: Promise<House> | undefined;
  readonly #telemetry: PartsTelemetry;
  readonly #stages = new Map<number, Stage>();

  constructor(telemetry: PartsTelemetry) {
    this.#telemetry = telemetry;
  }

  async enter(slot: number): Promise<Stage> {
    this.#house ??= startHouse({ telemetry: this.#telemetry });
    const { twins, openStage } = await this.#house;
    const used = this.#stages.get(slot);
    if (used !== undefined) {
      await resetSandbox(twins.baseUrl, twins.apiKey, used.id);
      return used;
    }
    const stage = await openStage();
    this.#stages.set(slot, stage);
    return stage;
  }

  /** The next call of the slot gets another sandbox and agent: those of a call that failed may be what is broken. */
  async leave(slot: number): Promise<void> {
    const stage = this.#stages.get(slot);
    this.#stages.delete(slot);
    await stage?.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#house?.then(
      (house) => house.stop(),
      () => undefined,
    );
  }
}

/** Puts every twin of a sandbox back to its start. @throws SandboxError */
async function resetSandbox(baseUrl: string, apiKey: string, id: string): Promise<void> {
  const response = await fetch(`${baseUrl}/sandboxes/${id}/reset`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
    signal: AbortSignal.timeout(RESET_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new SandboxError(`sandbox ${id} could not be reset: HTTP ${response.status}`);
}

/** @throws UsageError when the twins have no key */
export function twinsOf(url: string | undefined, key: string | undefined): SandboxAddress | undefined {
  if (url === undefined) return undefined;
  if (key === undefined || key === "") {
    throw new UsageError(`the twins at ${url} need a key: --key, or SANDBOX_API_KEY in the environment`);
  }
  return { baseUrl: url, apiKey: key };
}
