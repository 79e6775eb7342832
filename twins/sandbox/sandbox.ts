/** A sandbox: one clock and one running twin of each service it was asked for. */
import type { Logger } from "pino";
import { type SandboxClock, wallTime } from "./clock.ts";
import { Journal } from "./journal.ts";
import { createMask } from "./mask.ts";
import type { Operation, SocketOperation } from "./operation.ts";
import type { Router } from "./router.ts";
import { createSandboxView, type SandboxView } from "./sandbox-view.ts";
import type { AnyTwinDefinition, RunningTwin, TwinContext } from "./twin.ts";
import { createVendorRouter } from "./vendor-router.ts";

/** A definition made ready for use; shared by every sandbox. */
export interface TwinType {
  definition: AnyTwinDefinition;
  operations: Router<Operation<RunningTwin>>;
  sockets: Router<SocketOperation<RunningTwin> & { method: "GET" }>;
}

/** @throws Error when two operations of the twin have the same method and path. */
export function compileTwin(definition: AnyTwinDefinition): TwinType {
  try {
    return {
      definition,
      operations: createVendorRouter(definition.operations),
      sockets: createVendorRouter(
        (definition.sockets ?? []).map((socket) => ({ ...socket, method: "GET" as const })),
      ),
    };
  } catch (error) {
    throw new Error(`twin ${definition.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A running twin, with what the platform keeps about it. */
export interface HostedTwin {
  type: TwinType;
  running: RunningTwin;
  journal: Journal;
  log: Logger;
  /** What the code under test uses; a connection string for a database twin. */
  url: string;
  controlUrl: string;
  startedAtMs: number;
}

export interface Sandbox {
  id: string;
  /** Whose keys open its control plane. */
  organisation: string;
  clock: SandboxClock;
  twins: Map<string, HostedTwin>;
}

export interface SandboxService {
  type: TwinType;
  /** Already checked against the definition's `config`. */
  config: unknown;
}

export interface SandboxOptions {
  id: string;
  organisation: string;
  clock: SandboxClock;
  baseUrl: string;
  services: readonly SandboxService[];
  log: Logger;
  resolvePath: TwinContext["resolvePath"];
}

/** Starts all twins side by side. When one fails the others are stopped. @throws Error naming the twin and the reason. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const sandbox: Sandbox = {
    id: options.id,
    organisation: options.organisation,
    clock: options.clock,
    twins: new Map(),
  };
  const view = createSandboxView(sandbox.twins);
  const starting = options.services.map((service) => startTwin(options, service, view));
  const outcomes = await Promise.allSettled(starting);
  const failures: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") sandbox.twins.set(outcome.value.type.definition.name, outcome.value);
    else failures.push(outcome.reason);
  }
  if (failures.length === 0) return sandbox;
  await stopSandbox(sandbox);
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(String).join("; "));
}

async function startTwin(
  options: SandboxOptions,
  { type, config }: SandboxService,
  view: SandboxView,
): Promise<HostedTwin> {
  const { name } = type.definition;
  const url = `${options.baseUrl}/s/${options.id}/${name}`;
  const log = options.log.child({ sandbox: options.id, twin: name });
  const journal = new Journal(createMask(type.definition), options.clock);
  const context: TwinContext = {
    sandbox: options.id,
    name,
    url,
    clock: options.clock,
    journal,
    view,
    log,
    resolvePath: options.resolvePath,
  };
  try {
    const running = await type.definition.start(context, config);
    return {
      type,
      running,
      log,
      journal,
      url: running.url ?? url,
      controlUrl: `${options.baseUrl}/c/${options.id}/${name}`,
      startedAtMs: wallTime(),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`twin ${name} of sandbox ${options.id} did not start: ${reason}`, { cause: error });
  }
}

/** Stops every twin; one that fails to stop is logged and does not keep the others. */
export async function stopSandbox(sandbox: Sandbox): Promise<void> {
  const stopping = [...sandbox.twins.values()].map(async (twin) => {
    try {
      await twin.running.stop();
    } catch (error) {
      twin.log.error({ err: error }, "the twin did not stop cleanly");
    }
  });
  await Promise.all(stopping);
}
