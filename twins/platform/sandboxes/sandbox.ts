/** A sandbox: one clock and one running twin of each service it was asked for. */

import type { Logger } from "pino";
import { type SandboxClock, wallTime } from "../base/clock.ts";
import { endWithin } from "../base/deadline.ts";
import { reasonOf } from "../base/reason.ts";
import { CallbackRegister } from "../client/destination.ts";
import { Faults } from "../faults/faults.ts";
import { FileStore } from "../files/file-store.ts";
import { WorldWithFiles } from "../files/world-with-files.ts";
import { Connections } from "../http/connections.ts";
import { answeringWorldErrors } from "../http/errors.ts";
import { EventStreams } from "../http/event-stream.ts";
import type { Operation, SocketOperation } from "../http/operation.ts";
import { createRouter, pathsOverlap, type Router } from "../http/router.ts";
import { ChangeLog } from "../journal/change-log.ts";
import { Journal } from "../journal/journal.ts";
import type { PlatformKeys } from "../journal/known-secrets.ts";
import { createMask } from "../journal/mask.ts";
import { RequestSpans } from "../telemetry/request-spans.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { createSandboxView, type SandboxView } from "../twin/sandbox-view.ts";
import type { AnyTwinDefinition, RunningTwin, TwinContext } from "../twin/twin.ts";
import { createVendorRouter, isControlPath } from "./vendor-router.ts";

/** A compiled definition; shared by every sandbox. */
export interface TwinType {
  definition: AnyTwinDefinition;
  operations: Router<Operation<RunningTwin>>;
  sockets: Router<SocketOperation<RunningTwin> & { method: "GET" }>;
  /** The routes of its control plane: the common ones, then its own. */
  controlOperations: readonly Operation<TwinOfSandbox>[];
  control: Router<Operation<TwinOfSandbox>>;
}

/**
 * @param commonControl the control routes of every twin
 * @throws Error when two operations of the twin have the same method and path, or one of its control routes is not its own
 */
export function compileTwin(
  definition: AnyTwinDefinition,
  commonControl: readonly Operation<TwinOfSandbox>[],
): TwinType {
  try {
    const controlOperations = [...commonControl, ...ownControlOperations(definition, commonControl)];
    return {
      definition,
      operations: createVendorRouter(definition.operations),
      sockets: createVendorRouter(
        (definition.sockets ?? []).map((socket) => ({ ...socket, method: "GET" as const })),
      ),
      controlOperations,
      control: createRouter(controlOperations),
    };
  } catch (error) {
    throw new Error(`twin ${definition.name}: ${reasonOf(error)}`);
  }
}

/** A twin's own control routes, each handed the running twin. @throws Error when a path is a common one, or not below `/sim/` */
function ownControlOperations(
  { controlOperations = [] }: AnyTwinDefinition,
  common: readonly Operation<TwinOfSandbox>[],
): Operation<TwinOfSandbox>[] {
  return controlOperations.map((own) => {
    if (!isControlPath(own.path)) throw new Error(`the control route ${own.path} is not below /sim/`);
    const clash = common.find(({ path }) => pathsOverlap(path, own.path));
    if (clash) throw new Error(`the control route ${own.path} clashes with the common ${clash.path}`);
    return answeringWorldErrors({
      ...own,
      handle: (request, { twin }) => own.handle(request, twin.running),
    });
  });
}

const types = new WeakMap<AnyTwinDefinition, TwinType>();

/** Compiles a definition, once for all sandboxes. @throws Error as `compileTwin` does */
export function typeOf(
  definition: AnyTwinDefinition,
  commonControl: readonly Operation<TwinOfSandbox>[],
): TwinType {
  let type = types.get(definition);
  if (!type) {
    type = compileTwin(definition, commonControl);
    types.set(definition, type);
  }
  return type;
}

/** A running twin, with the platform's own state for it. */
export interface HostedTwin {
  type: TwinType;
  running: RunningTwin;
  /** The twin's tables and its files, as the control plane reads, writes, dumps and loads them. */
  world: WorldWithFiles;
  files: FileStore;
  callbacks: CallbackRegister;
  journal: Journal;
  faults: Faults;
  log: Logger;
  /** Address for the code under test; a connection string for a database twin. */
  url: string;
  controlUrl: string;
  startedAtMs: number;
  /** Resets the world to a profile, by default the service's own or else the initial state, and removes all files. */
  reset(profile?: string): Promise<void>;
  /** Stops the twin after a running reset, so that the reset creates nothing after the end. */
  stop(): Promise<void>;
  /** The sandbox's open connections. */
  connections: Connections;
  /** The watchers of its world. */
  streams: EventStreams;
}

/**
 * Where the control plane is: at `/c/…` with a key (`split`), or at the vendor's own address without a key (`legacy`, for
 * worlds captured before `split` existed).
 */
export type Layout = "split" | "legacy";

export interface Sandbox {
  /** Unique id, part of its addresses (`/s/<id>/<twin>`). */
  id: string;
  /** The organisation whose keys open its control plane. */
  organisation: string;
  /** The environment whose datasets its services use. */
  environment: string;
  layout: Layout;
  clock: SandboxClock;
  twins: Map<string, HostedTwin>;
  connections: Connections;
  /** What changed in the worlds of its twins since it started. */
  changes: ChangeLog;
  /** The watchers of the whole sandbox. */
  streams: EventStreams;
  /** Size limit of a twin's snapshot. */
  snapshotBytes: number;
}

export interface TwinOfSandbox {
  sandbox: Sandbox;
  twin: HostedTwin;
}

/** Default of SNAPSHOT_LIMIT_MB, in bytes. */
export const DEFAULT_SNAPSHOT_BYTES = 4096 * 1024 ** 2;

interface SandboxService {
  type: TwinType;
  /** Already checked against the definition's `config`. */
  config: unknown;
  profile?: string;
}

/** A sandbox's access to the machine: the files and variables its services may name, and its disk space. */
export type Reach = Pick<
  TwinContext,
  "resolvePath" | "resolveWritablePath" | "fileError" | "variable" | "storeLimitBytes"
>;

export interface SandboxOptions
  extends Pick<Sandbox, "id" | "organisation" | "environment" | "layout" | "clock" | "snapshotBytes"> {
  baseUrl: string;
  /** The current dataset of a service. */
  dataset(service: string): ReturnType<NonNullable<TwinContext["dataset"]>>;
  services: readonly SandboxService[];
  /** Masked in every journal. */
  platformKeys: PlatformKeys;
  log: Logger;
  telemetry: Telemetry;
  reach: Reach;
  onTwinStarted?: ((name: string) => void) | undefined;
}

/** How long a twin may take to stop when its sandbox ends. */
export const TWIN_STOP_MS = 30_000;

/** Starts all twins in parallel. When one fails, stops the others. @throws Error naming the twin and the reason. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { id, organisation, environment, layout, clock, snapshotBytes } = options;
  const twins = new Map<string, HostedTwin>();
  const connections = new Connections();
  const sandbox: Sandbox = {
    id,
    organisation,
    environment,
    layout,
    clock,
    twins,
    connections,
    changes: new ChangeLog(clock),
    streams: new EventStreams("a sandbox"),
    snapshotBytes,
  };
  const view = createSandboxView(twins);
  const outcomes = await Promise.allSettled(
    options.services.map((service) => startTwin(options, service, sandbox, view)),
  );
  const failures: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") twins.set(outcome.value.type.definition.name, outcome.value);
    else failures.push(outcome.reason);
  }
  if (failures.length === 0) {
    for (const [name, { world }] of twins) sandbox.changes.follow(name, world);
    return sandbox;
  }
  await stopSandbox(sandbox, TWIN_STOP_MS);
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(String).join("; "));
}

async function startTwin(
  options: SandboxOptions,
  { type, config, profile }: SandboxService,
  sandbox: Sandbox,
  view: SandboxView,
): Promise<HostedTwin> {
  const { name } = type.definition;
  const vendorUrl = `${options.baseUrl}/s/${options.id}/${name}`;
  const log = options.log.child({ sandbox: options.id, twin: name });
  const mask = createMask(type.definition, options.platformKeys);
  const spans = new RequestSpans(options.telemetry, { sandbox: options.id, twin: name });
  const journal = new Journal(mask, options.clock, {}, spans);
  const faults = new Faults();
  const callbacks = new CallbackRegister();
  const files = new FileStore(options.clock);
  const context: TwinContext = {
    sandbox: options.id,
    name,
    url: vendorUrl,
    clock: options.clock,
    journal,
    mask,
    faults,
    view,
    log,
    telemetry: options.telemetry,
    ...options.reach,
    callbackDestination: () => callbacks.current,
    ...(type.definition.takesDataset ? { dataset: () => options.dataset(name) } : {}),
  };
  try {
    const running = await type.definition.start(context, config);
    mask.know(type.definition.credentials?.(running.url ?? vendorUrl) ?? []);
    if (profile !== undefined) await resetOrStop(running, profile);
    const world = new WorldWithFiles(running.world, files);
    world.setBaseline();
    const inTurn = createTurns();
    options.onTwinStarted?.(name);
    return {
      type,
      running,
      world,
      files,
      callbacks,
      log,
      journal,
      faults,
      url: running.url ?? vendorUrl,
      controlUrl: options.layout === "legacy" ? vendorUrl : `${options.baseUrl}/c/${options.id}/${name}`,
      startedAtMs: wallTime(),
      reset: (other = profile) =>
        inTurn(async () => {
          if (!sandbox.connections.open) throw new Error(`sandbox ${options.id} is ending`);
          await running.reset(other);
          world.replaceFiles([]);
        }),
      stop: () => inTurn(() => running.stop()),
      connections: sandbox.connections,
      streams: new EventStreams("a twin"),
    };
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(`twin ${name} of sandbox ${options.id} did not start: ${reason}`, { cause: error });
  }
}

async function resetOrStop(running: RunningTwin, profile: string): Promise<void> {
  try {
    await running.reset(profile);
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/**
 * Stops every twin, then closes the remaining connections. A twin that fails to stop is logged and does not block the others.
 * @param limitMs time limit per twin; a later one is abandoned
 */
export async function stopSandbox(sandbox: Sandbox, limitMs: number): Promise<void> {
  sandbox.connections.refuse();
  const stopping = [...sandbox.twins.values()].map(async (twin) => {
    try {
      await endWithin(limitMs, twin.stop());
    } catch (error) {
      twin.log.error({ err: error }, "the twin did not stop cleanly");
    }
  });
  await Promise.all(stopping);
  for (const { streams } of [sandbox, ...sandbox.twins.values()]) streams.end();
  await sandbox.connections.end();
}

/** Creates a queue that runs work sequentially, whether the previous work succeeds or fails. */
function createTurns(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
