/** Prepares the twins behind the agent for many calls of one scenario: one simulation, whose script answers them all. */
import { SandboxClient, SandboxError } from "@offhook/caller/sandbox-client";
import { type Scenario, ScenarioError } from "@offhook/caller/scenario-file";
import type { Callee } from "../dial/options.ts";

export interface Rehearsed {
  /** Headers that make a call part of the simulation. */
  headers: Record<string, string>;
  /** Ends the simulation and removes its script. */
  close(): Promise<void>;
}

/** @throws ScenarioError when the twins refuse the scenario, SandboxError when they do not answer */
export async function prepareTwins(
  { sandbox: address }: Pick<Callee, "sandbox">,
  scenario: Scenario,
): Promise<Rehearsed> {
  const { file, given, faults, brain, name } = scenario;
  if (Object.keys(faults).length > 0) {
    const advice = "take another scenario, or arm them yourself with POST /sim/faults";
    throw new ScenarioError(`${file}: faults: they would end with the first calls of a load test; ${advice}`);
  }
  if (address === undefined) {
    if (Object.keys(given).length === 0) return { headers: {}, close: async () => undefined };
    throw new ScenarioError(`${file}: given: there are no twins to take the rows`);
  }
  const sandbox = await SandboxClient.connect(address);
  try {
    for (const [service, data] of Object.entries(given)) await sandbox.addRows(service, data);
    if (!sandbox.has("engine")) return { headers: {}, close: async () => sandbox.close() };
    const simulationId = await sandbox.createSimulation(name, { load: true });
    if (sandbox.has("vapi")) await sandbox.addScript(simulationId, brain);
    return {
      headers: { "X-Simulation-Id": simulationId },
      close: async () => {
        await sandbox.withdraw().finally(() => sandbox.close());
      },
    };
  } catch (error) {
    await sandbox.withdraw().finally(() => sandbox.close());
    if (!(error instanceof SandboxError)) throw error;
    throw new ScenarioError(`${file}: the twins do not take it: ${error.message}`);
  }
}
