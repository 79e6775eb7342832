/** What the page asks of the twins: which agents there are, who listens, which recordings there are. */
import { ApiError, controlPath, queryText, read, readFile, send, sendFile } from "../api/client.ts";
import { type Resource, useResource } from "../api/resource.ts";
import type { CallDetails, CallSummary } from "../calls/types.ts";
import { readSampleWav, wavOf } from "./wav.ts";

/** A voice channel that can be called. */
export interface Agent {
  url: string;
  language?: string;
  /** `running`: the agent that runs in the folder of the twins; `environment`: one of the environment file. */
  source: "environment" | "running";
}

interface Channel extends Agent {
  type: string;
  protocol: string;
}

export interface Provider {
  provider: string;
  /** How many recordings it knows. */
  samples?: number;
  model?: string;
}

export interface Sample {
  name: string;
  /** Samples of other kinds than speech test what happens to noise. */
  kind: "speech" | "noise" | "tones" | "wrong-rate";
  /** Empty where nothing is said. */
  text: string;
  duration_ms: number;
}

export interface SampleFolder {
  samples: Sample[];
  /** Why no sample can be added, if so. */
  locked: string | null;
}

/** Agents that speak PCM16 over a WebSocket; the running one first. */
export function useAgents(sandbox: string): Resource<Agent[]> {
  return useResource(`agents ${sandbox}`, async (signal) => {
    const path = `/sandboxes/${encodeURIComponent(sandbox)}/channels`;
    const { channels } = await read<{ channels: Channel[] }>(path, signal);
    const voices = channels.filter(({ url }) => /^wss?:/.test(url));
    const sorted = voices.toSorted((a, b) => Number(b.source === "running") - Number(a.source === "running"));
    return [...new Map(sorted.toReversed().map((each) => [each.url, each])).values()].toReversed();
  });
}

/** What listens and what answers. */
export interface Providers {
  recognition: Provider;
  brain: Provider;
}

export function useProviders(sandbox: string): Resource<Providers> {
  return useResource(`providers ${sandbox}`, (signal) =>
    read<Providers>(controlPath(sandbox, "vapi", "providers"), signal),
  );
}

/** Rules of the scripted brain. */
export interface Script {
  /** `*`: those of every call without its own. */
  simulation_id: string;
  /** The words that its rules name. */
  heard: string[];
  /** Names of the samples that one of these rules answers. */
  samples: string[];
}

/** The script of calls without their own. */
export const EVERY_CALL = "*";

/** The scripts that a call may have, that of every call first. */
export function useScripts(sandbox: string): Resource<Script[]> {
  return useResource(`scripts ${sandbox}`, async (signal) => {
    const path = controlPath(sandbox, "vapi", "scripts");
    return (await read<{ scripts: Script[] }>(path, signal)).scripts;
  });
}

/** Adds the script of a scenario file, or replaces the one of its name. @throws ApiError */
export async function addScriptFile(sandbox: string, name: string, file: Blob): Promise<void> {
  const path = controlPath(sandbox, "vapi", `scripts/${encodeURIComponent(name)}`);
  await sendFile("PUT", path, new Blob([file], { type: "application/yaml" }));
}

/** Gives a simulation the rules of a script. @throws ApiError */
export async function copyScript(sandbox: string, from: string, simulation: string): Promise<void> {
  const query = { entity_type: "scripts", simulation_id: from };
  const { rows } = await read<{ rows: { rules: unknown }[] }>(controlPath(sandbox, "vapi", "data", query));
  const [row] = rows;
  if (row === undefined) {
    throw new ApiError(404, "not_found", `the script ${from} is gone; choose another one`);
  }
  const data = { scripts: [{ simulation_id: simulation, rules: row.rules }] };
  await send("POST", controlPath(sandbox, "vapi", "data"), { data });
}

/** @throws ApiError */
export async function removeScript(sandbox: string, simulation: string): Promise<void> {
  const body = { entity_type: "scripts", key: simulation };
  await send("DELETE", controlPath(sandbox, "vapi", "data"), body);
}

/** The recordings that the recogniser knows. */
export function useSamples(sandbox: string): Resource<SampleFolder> {
  return useResource(`samples ${sandbox}`, (signal) =>
    read<SampleFolder>(controlPath(sandbox, "vapi", "samples"), signal),
  );
}

/** @throws ApiError; Error when it is not in the callers' format */
export async function readSample(sandbox: string, name: string): Promise<Int16Array> {
  return readSampleWav(await readFile(controlPath(sandbox, "vapi", `samples/${encodeURIComponent(name)}`)));
}

/** Keeps a recording with its text, so that the recogniser knows it. @throws ApiError */
export async function keepSample(
  sandbox: string,
  { name, text, samples }: { name: string; text: string; samples: Int16Array },
): Promise<void> {
  const path = `${controlPath(sandbox, "vapi", "samples")}${queryText({ name, text })}`;
  await sendFile("POST", path, wavOf(samples));
}

const enginePath = (sandbox: string) => `/s/${encodeURIComponent(sandbox)}/engine/simulations`;

/** Begins a simulation, by which the call is found. @returns its id @throws ApiError */
export async function beginSimulation(sandbox: string): Promise<string> {
  const body = { scenario: "talk", metadata: { placed_from: "console" } };
  return (await send<{ id: string }>("POST", enginePath(sandbox), body)).id;
}

/** @throws ApiError */
export async function endSimulation(sandbox: string, id: string): Promise<void> {
  await send("POST", `${enginePath(sandbox)}/${encodeURIComponent(id)}/end`);
}

/** The call of a simulation; `undefined` before there is one. @throws ApiError */
export async function readCallOfSimulation(
  sandbox: string,
  simulation: string,
  signal: AbortSignal,
): Promise<CallDetails | undefined> {
  const query = { simulation_id: simulation, order: "newest", limit: 1 };
  const path = controlPath(sandbox, "vapi", "calls", query);
  const [call] = (await read<{ calls: CallSummary[] }>(path, signal)).calls;
  return call && read(controlPath(sandbox, "vapi", `calls/${encodeURIComponent(call.id)}`), signal);
}
