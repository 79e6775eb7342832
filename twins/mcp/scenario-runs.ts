/** The one scenario that a server runs at a time, and its end when the server ends. */

import { type RunOptions, runScenario, type ScenarioRun } from "@offhook/caller/run-scenario";
import { SandboxClient } from "@offhook/caller/sandbox-client";
import type { Scenario } from "@offhook/caller/scenario-file";
import { type Project, ToolError } from "./project.ts";

export interface FinishedRun {
  run: ScenarioRun;
  /** The call's page in the twins' console; `null` without a console, or a call. */
  consoleUrl: string | null;
}

interface RunningScenario {
  name: string;
  signal: AbortSignal;
  sandbox?: SandboxClient | undefined;
  /** Resolves when it is over, whatever became of it. */
  over?: Promise<unknown>;
}

type PlaceOptions = Pick<RunOptions, "speed" | "framing" | "onEvent"> & { signal: AbortSignal };

export class ScenarioRuns {
  readonly #project: Project;
  #running: RunningScenario | undefined;

  constructor(project: Project) {
    this.#project = project;
  }

  /**
   * Places a scenario's call. One at a time: the faults of a scenario hit every call of the sandbox.
   * A run that was cancelled is waited for: its caller is hanging up.
   * @param onWait called with the reason when the agent is waited for
   * @throws ToolError while another runs; the signal's reason when it aborts, after the call was hung up
   */
  async place(
    scenario: Scenario,
    options: PlaceOptions,
    onWait: (reason: string) => void,
  ): Promise<FinishedRun> {
    while (this.#running?.signal.aborted) await this.#running.over;
    if (this.#running !== undefined) {
      throw new ToolError(
        `${this.#running.name} is running: wait for its answer or cancel it, then run this one`,
      );
    }
    const running: RunningScenario = { name: scenario.name, signal: options.signal };
    const answer = this.#run(running, scenario, options, onWait).finally(() => {
      running.sandbox?.close();
      this.#running = undefined;
    });
    running.over = answer.catch(() => undefined);
    this.#running = running;
    return answer;
  }

  async #run(
    running: RunningScenario,
    scenario: Scenario,
    options: PlaceOptions,
    onWait: (reason: string) => void,
  ): Promise<FinishedRun> {
    const { url, framing, headers } = await this.#project.locateAgent(onWait);
    const address = this.#project.locateTwins();
    running.sandbox = address && (await SandboxClient.connect(address));
    options.signal.throwIfAborted();
    const chosen = options.framing ?? framing;
    const run = await runScenario(scenario, {
      ...options,
      url,
      headers,
      telemetry: this.#project.telemetry,
      sandbox: running.sandbox,
      ...(chosen === undefined ? {} : { framing: chosen }),
    });
    return { run, consoleUrl: await consoleUrlOf(run, running.sandbox) };
  }

  /** Takes back what a run that is cut short gave to the twins. */
  async withdraw(): Promise<void> {
    await this.#running?.sandbox?.withdraw();
  }
}

async function consoleUrlOf({ runtime }: ScenarioRun, sandbox: SandboxClient | undefined) {
  if (runtime === undefined || sandbox === undefined) return null;
  const address = await sandbox.consoleAddress(`/calls/${runtime.call.id}`);
  if (address === undefined) return null;
  const url = new URL(address);
  // The code signs a browser in: it is a secret, and answers are kept by clients.
  url.search = "";
  return url.href;
}
