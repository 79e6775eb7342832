/** A scenario from dialling to verdict: what the command line, the demo and the replay tests run. */
import { placeCall } from "./call.ts";
import { CALL_LIMITS, type CallEvent, type CallLimits, type CallReport } from "./call-report.ts";
import { judge } from "./judge.ts";
import type { Framing } from "./line.ts";
import { type ObservedCall, observe, type RuntimeRecord } from "./observed.ts";
import {
  type EngineEvent,
  type RuntimeCall,
  type RuntimeMessage,
  type SandboxClient,
  SandboxError,
  type TraceLine,
} from "./sandbox-client.ts";
import { type Scenario, ScenarioError } from "./scenario-file.ts";

export type ScenarioEvent =
  | CallEvent
  /** The runtime is the twin: it shows what is said. Its call was created, or changed. */
  | { type: "runtime-call"; call: RuntimeCall }
  /** Something the runtime wrote down: an utterance, a tool call, a tool result. */
  | { type: "message"; message: RuntimeMessage }
  /** Something the engine was told. */
  | { type: "event"; event: EngineEvent };

export interface RunOptions {
  /** Address of the agent's voice channel. */
  url: string;
  /** Default: what the scenario says, else binary. */
  framing?: Framing;
  speed?: number;
  /** The twins behind the agent; without them the call is judged by its audio alone. */
  sandbox?: SandboxClient | undefined;
  headers?: Record<string, string>;
  limits?: Partial<CallLimits>;
  recordingFile?: string | undefined;
  onEvent?: ((event: ScenarioEvent) => void) | undefined;
}

export interface ScenarioRun extends ObservedCall {
  scenario: Scenario;
  passed: boolean;
  failures: string[];
  /** Expectations nobody could witness, and why. */
  unchecked: string[];
  /** Rows of the database that the expectations asked for, as they were found. */
  databaseRows: { table: string; rows: Record<string, unknown>[] }[];
  simulationId: string | undefined;
  /** What the agent reported, what the twins were asked and what was said, in time order; `undefined` without an engine. */
  trace: TraceLine[] | undefined;
}

/** How long the twins' side may take to see the end of a call that is over for the caller. */
const SETTLE_MS = 5_000;
/** For arming, connecting and judging. */
const AROUND_CALL_SECONDS = 120;
/** The longest that a twin takes. */
const MAX_FAULT_SECONDS = 86_400;

/** @throws SandboxError when the twins cannot be asked, ScenarioError when the script is refused; a call that goes wrong is a result */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioRun> {
  const { sandbox, speed = 1 } = options;
  await giveRows(sandbox, scenario);
  const disarm = await armFaults(sandbox, scenario, secondsArmed(options));
  try {
    return await runArmed(scenario, options, speed);
  } finally {
    await disarm();
  }
}

/** The call itself, with everything in place. */
async function runArmed(scenario: Scenario, options: RunOptions, speed: number): Promise<ScenarioRun> {
  const { sandbox } = options;
  const asked = await newestRequests(sandbox, scenario);
  const witness = sandbox?.has("engine") ? await Witness.of(sandbox, scenario, options.onEvent) : undefined;
  let report: CallReport;
  let call: ObservedCall;
  try {
    report = await placeCall({
      url: options.url,
      framing: options.framing ?? scenario.framing ?? "binary",
      headers: { ...options.headers, ...(witness ? { "X-Simulation-Id": witness.simulationId } : {}) },
      plan: scenario.plan,
      speed,
      ...(options.limits ? { limits: options.limits } : {}),
      ...(options.recordingFile === undefined ? {} : { recordingFile: options.recordingFile }),
      onEvent: (event) => options.onEvent?.(event),
    });
    call = observe(report, await witness?.runtimeRecord(), await witness?.events());
  } finally {
    await witness?.dismiss();
  }
  const { failures, unchecked, databaseRows } = await judge({
    expect: scenario.expect,
    call,
    speed,
    ...(sandbox ? { requestsOf: (twin) => sandbox.requests(twin, asked.get(twin) ?? 0) } : {}),
    ...(sandbox?.has("postgres") ? { rowsOf: sandbox.databaseRows.bind(sandbox) } : {}),
  });
  return {
    ...call,
    scenario,
    passed: failures.length === 0,
    failures,
    unchecked,
    databaseRows,
    simulationId: witness?.simulationId,
    trace: await witness?.trace(),
  };
}

/** @throws ScenarioError when a twin does not take the rows, or there is none */
async function giveRows(sandbox: SandboxClient | undefined, { given, file }: Scenario): Promise<void> {
  for (const [service, data] of Object.entries(given)) {
    if (sandbox === undefined) throw new ScenarioError(`${file}: given: there are no twins to take the rows`);
    try {
      await sandbox.addRows(service, data);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      throw new ScenarioError(`${file}: given: ${service} does not take these rows: ${error.message}`);
    }
  }
}

/** How long faults outlive a caller that is killed: as long as its call could have taken, with what comes before and after. */
function secondsArmed({ limits, speed = 1 }: RunOptions): number {
  const { durationMs } = { ...CALL_LIMITS, ...limits };
  return Math.min(Math.ceil(durationMs / 1000 / Math.min(speed, 1)) + AROUND_CALL_SECONDS, MAX_FAULT_SECONDS);
}

/**
 * @param ttlSeconds after which a twin removes a fault that says nothing of it itself
 * @returns what takes them back @throws ScenarioError when a twin does not take a fault, or there is none
 */
async function armFaults(
  sandbox: SandboxClient | undefined,
  { faults, file }: Scenario,
  ttlSeconds: number,
): Promise<() => Promise<void>> {
  const armed: { service: string; id: string }[] = [];
  const disarm = async () => {
    for (const { service, id } of armed) await sandbox?.disarmFault(service, id);
  };
  for (const [service, wanted] of Object.entries(faults)) {
    if (sandbox === undefined) throw new ScenarioError(`${file}: faults: there are no twins to have them`);
    try {
      for (const fault of wanted) {
        const bounded =
          typeof fault === "object" && fault !== null && !Array.isArray(fault)
            ? { ttl_seconds: ttlSeconds, ...fault }
            : fault;
        armed.push({ service, id: await sandbox.armFault(service, bounded) });
      }
    } catch (error) {
      await disarm();
      if (!(error instanceof SandboxError)) throw error;
      throw new ScenarioError(`${file}: faults: ${service} does not take them: ${error.message}`);
    }
  }
  return disarm;
}

/** By twin, the last request before the call; of those that the scenario expects something of. */
async function newestRequests(
  sandbox: SandboxClient | undefined,
  { expect }: Scenario,
): Promise<Map<string, number>> {
  const twins = sandbox ? new Set(expect.requests?.map(({ twin }) => twin)) : [];
  const newest = new Map<string, number>();
  for (const twin of twins) newest.set(twin, (await sandbox?.newestRequest(twin)) ?? 0);
  return newest;
}

/** @throws ScenarioError when the runtime does not take the rules */
async function giveScript(
  sandbox: SandboxClient,
  simulationId: string,
  { brain, file }: Scenario,
): Promise<void> {
  try {
    await sandbox.addScript(simulationId, brain);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new ScenarioError(`${file}: brain: the runtime does not take these rules: ${error.message}`);
  }
}

/** The twins' side of one call. */
class Witness {
  readonly simulationId: string;
  readonly #sandbox: SandboxClient;
  readonly #scripted: boolean;
  readonly #unlisten: () => void;
  #toolCalls = 0;
  #reported = 0;
  #ended = false;
  #changed: () => void = () => undefined;

  /** Opens a simulation for one call and gives the runtime's brain its script. */
  static async of(
    sandbox: SandboxClient,
    scenario: Scenario,
    onEvent: RunOptions["onEvent"],
  ): Promise<Witness> {
    const simulationId = await sandbox.createSimulation(scenario.name);
    const scripted = sandbox.has("vapi");
    if (scripted) await giveScript(sandbox, simulationId, scenario);
    return new Witness(sandbox, simulationId, scripted, onEvent);
  }

  private constructor(
    sandbox: SandboxClient,
    simulationId: string,
    scripted: boolean,
    onEvent: RunOptions["onEvent"],
  ) {
    this.#sandbox = sandbox;
    this.simulationId = simulationId;
    this.#scripted = scripted;
    this.#unlisten = sandbox.listen(simulationId, {
      message: (message) => {
        if (message.role === "tool_call") this.#toolCalls += 1;
        onEvent?.({ type: "message", message });
      },
      call: (call) => {
        this.#ended = call.status === "ended";
        onEvent?.({ type: "runtime-call", call });
        this.#changed();
      },
      event: (event) => {
        this.#reported += 1;
        this.#changed();
        onEvent?.({ type: "event", event });
      },
    });
  }

  /** What the runtime wrote down, once it is complete; `undefined` when the call went to another runtime. */
  async runtimeRecord(): Promise<RuntimeRecord | undefined> {
    if (!this.#scripted || (await this.#sandbox.calls(this.simulationId)).length === 0) return undefined;
    await this.#until(() => this.#ended && this.#reported >= this.#toolCalls);
    const [call] = await this.#sandbox.calls(this.simulationId);
    if (call === undefined) return undefined;
    return { call, messages: await this.#sandbox.messages(this.simulationId) };
  }

  events(): Promise<EngineEvent[]> {
    return this.#sandbox.events(this.simulationId);
  }

  trace(): Promise<TraceLine[]> {
    return this.#sandbox.trace(this.simulationId);
  }

  async dismiss(): Promise<void> {
    this.#unlisten();
    await this.#sandbox.endSimulation(this.simulationId);
    if (this.#scripted) await this.#sandbox.removeScript(this.simulationId);
  }

  /** Waits for a change that makes it true, or gives up. */
  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => this.#settle(resolve, giveUp), SETTLE_MS);
      this.#changed = () => {
        if (condition()) this.#settle(resolve, giveUp);
      };
      this.#changed();
    });
  }

  #settle(resolve: () => void, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#changed = () => undefined;
    resolve();
  }
}
