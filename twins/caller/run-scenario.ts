/** Runs a scenario from dialling to verdict, for the command line, the demo and the replay tests. */
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import { placeCall } from "./call.ts";
import { CALL_LIMITS, type CallEvent, type CallLimits } from "./call-report.ts";
import { callReportEvent, simulationMetadata } from "./call-verdict.ts";
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
  /** The runtime twin's call was created or changed. */
  | { type: "runtime-call"; call: RuntimeCall }
  /** The runtime recorded an utterance, a tool call or a tool result. */
  | { type: "message"; message: RuntimeMessage }
  /** The engine received an event. */
  | { type: "event"; event: EngineEvent };

export interface RunOptions {
  /** Address of the agent's voice channel. */
  url: string;
  /** Default: the scenario's, or else binary. */
  framing?: Framing;
  speed?: number;
  /** The twins behind the agent; without them only the audio is judged. */
  sandbox?: SandboxClient | undefined;
  headers?: Record<string, string>;
  limits?: Partial<CallLimits>;
  recordingFile?: string | undefined;
  /** Hangs up when it aborts, and no verdict is reached. */
  signal?: AbortSignal | undefined;
  onEvent?: ((event: ScenarioEvent) => void) | undefined;
  /** Default: off. */
  telemetry?: Telemetry | undefined;
}

export interface ScenarioRun extends ObservedCall {
  scenario: Scenario;
  passed: boolean;
  failures: string[];
  /** Expectations that could not be checked, and why. */
  unchecked: string[];
  /** The database rows that the expectations select. */
  databaseRows: { table: string; rows: Record<string, unknown>[] }[];
  simulationId: string | undefined;
  /** Agent reports, requests to twins and utterances until the verdict, in time order; `undefined` without an engine. */
  trace: TraceLine[] | undefined;
}

/** Time for the twins to see the end of a call that has ended for the caller. */
const SETTLE_MS = 5_000;
/** Time for arming, connecting and judging. */
const AROUND_CALL_SECONDS = 120;
/** Maximum `ttl_seconds` that a twin accepts. */
const MAX_FAULT_SECONDS = 86_400;

/**
 * Runs one scenario. A failed call is a result, not an error.
 * @throws SandboxError when the twins do not answer, ScenarioError when they refuse the scenario's rows, faults or script,
 *   the signal's reason when it aborts
 */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioRun> {
  const { sandbox, speed = 1 } = options;
  await addGivenRows(sandbox, scenario);
  const disarm = await armFaults(sandbox, scenario, faultTtlSeconds(options));
  try {
    return await placeAndJudge(scenario, options, speed);
  } finally {
    await disarm();
  }
}

/** Places the call and judges it; rows and faults are in place. */
async function placeAndJudge(scenario: Scenario, options: RunOptions, speed: number): Promise<ScenarioRun> {
  const { sandbox } = options;
  const framing = options.framing ?? scenario.framing ?? "binary";
  const newestSeqs = await newestRequestSeqs(sandbox, scenario);
  const witness = sandbox?.has("engine")
    ? await Witness.open(sandbox, scenario, { speed, framing }, options.onEvent)
    : undefined;
  try {
    const report = await placeCall({
      url: options.url,
      framing,
      headers: {
        ...options.headers,
        ...(witness ? { "X-Simulation-Id": witness.simulationId } : {}),
      },
      plan: scenario.plan,
      speed,
      ...(options.limits ? { limits: options.limits } : {}),
      ...(options.recordingFile === undefined ? {} : { recordingFile: options.recordingFile }),
      ...(options.signal ? { signal: options.signal } : {}),
      traced: { scenario: scenario.name, telemetry: options.telemetry },
      onEvent: (event) => options.onEvent?.(event),
    });
    options.signal?.throwIfAborted();
    const call = observe(report, await witness?.runtimeRecord(), await witness?.events());
    witness?.stopListening();
    const judgement = await judge({
      expect: scenario.expect,
      call,
      speed,
      ...(sandbox ? { requestsOf: (twin) => sandbox.requests(twin, newestSeqs.get(twin) ?? 0) } : {}),
      ...(sandbox?.has("postgres") ? { rowsOf: sandbox.databaseRows.bind(sandbox) } : {}),
    });
    const trace = await witness?.trace();
    await witness?.report(callReportEvent(scenario, call, judgement));
    return {
      ...call,
      ...judgement,
      scenario,
      passed: judgement.failures.length === 0,
      simulationId: witness?.simulationId,
      trace,
    };
  } finally {
    await witness?.close();
  }
}

/** @throws ScenarioError when a twin refuses the rows, or there are no twins */
async function addGivenRows(sandbox: SandboxClient | undefined, { given, file }: Scenario): Promise<void> {
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

/** Time to live of a fault: the maximum duration of its run, so that faults of a killed caller expire. */
function faultTtlSeconds({ limits, speed = 1 }: RunOptions): number {
  const { durationMs } = { ...CALL_LIMITS, ...limits };
  return Math.min(Math.ceil(durationMs / 1000 / Math.min(speed, 1)) + AROUND_CALL_SECONDS, MAX_FAULT_SECONDS);
}

/**
 * @param ttlSeconds of a fault that names none itself
 * @returns disarms the faults
 * @throws ScenarioError when a twin refuses a fault, or there are no twins
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
        const withTtl =
          typeof fault === "object" && fault !== null && !Array.isArray(fault)
            ? { ttl_seconds: ttlSeconds, ...fault }
            : fault;
        armed.push({ service, id: await sandbox.armFault(service, withTtl) });
      }
    } catch (error) {
      await disarm();
      if (!(error instanceof SandboxError)) throw error;
      throw new ScenarioError(`${file}: faults: ${service} does not take them: ${error.message}`);
    }
  }
  return disarm;
}

/** The sequence number of the last request before the call, for each twin whose requests the scenario checks. */
async function newestRequestSeqs(
  sandbox: SandboxClient | undefined,
  { expect }: Scenario,
): Promise<Map<string, number>> {
  const twins = sandbox ? new Set(expect.requests?.map(({ twin }) => twin)) : [];
  const newest = new Map<string, number>();
  for (const twin of twins) newest.set(twin, (await sandbox?.newestRequest(twin)) ?? 0);
  return newest;
}

/** @throws ScenarioError when the runtime refuses the rules */
async function addScript(
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

interface WitnessParts {
  sandbox: SandboxClient;
  simulationId: string;
  /** Whether the runtime is the twin and has a script for the simulation. */
  scripted: boolean;
  onEvent: RunOptions["onEvent"];
}

/** Observes one call from the twins' side. */
class Witness {
  readonly simulationId: string;
  readonly #sandbox: SandboxClient;
  readonly #scripted: boolean;
  readonly #unlisten: () => void;
  #toolCalls = 0;
  #reported = 0;
  #ended = false;
  #onChange: () => void = () => undefined;

  /** Creates a simulation for one call and uploads its script to the runtime. */
  static async open(
    sandbox: SandboxClient,
    scenario: Scenario,
    dialled: { speed: number; framing: Framing },
    onEvent: RunOptions["onEvent"],
  ): Promise<Witness> {
    const metadata = simulationMetadata(scenario, dialled);
    const simulationId = await sandbox.createSimulation(scenario.name, metadata);
    const scripted = sandbox.has("vapi");
    if (scripted) await addScript(sandbox, simulationId, scenario);
    return new Witness({ sandbox, simulationId, scripted, onEvent });
  }

  private constructor({ sandbox, simulationId, scripted, onEvent }: WitnessParts) {
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
        this.#onChange();
      },
      event: (event) => {
        this.#reported += 1;
        this.#onChange();
        onEvent?.({ type: "event", event });
      },
    });
  }

  /** The runtime's rows, once complete; `undefined` when another runtime took the call. */
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

  stopListening(): void {
    this.#unlisten();
  }

  /** Reports the verdict to the engine, for those who look at the call later; the run does not depend on it. */
  async report(verdict: EngineEvent): Promise<void> {
    await this.#sandbox.addEvent(this.simulationId, verdict).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#unlisten();
    await this.#sandbox.endSimulation(this.simulationId);
    if (this.#scripted) await this.#sandbox.removeScript(this.simulationId);
  }

  /** Waits until the condition is true, at most `SETTLE_MS`. */
  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => this.#settle(resolve, giveUp), SETTLE_MS);
      this.#onChange = () => {
        if (condition()) this.#settle(resolve, giveUp);
      };
      this.#onChange();
    });
  }

  #settle(resolve: () => void, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#onChange = () => undefined;
    resolve();
  }
}
