/** What it takes to be a twin: one `defineTwin({…})`, exported by the folder's index and listed in `twins/registry.ts`. */
import type { Logger } from "pino";
import type { z } from "zod";
import type { MovingClock } from "../base/clock.ts";
import type { CallbackDestination } from "../client/destination.ts";
import type { FaultGate } from "../faults/connection-effects.ts";
import type {
  Operation,
  PlatformRefusal,
  RefusedRequest,
  SocketOperation,
  VendorResponse,
} from "../http/operation.ts";
import type { Journal } from "../journal/journal.ts";
import type { World } from "../world/world.ts";
import type { Dataset, OpenDatasetLibrary } from "./dataset.ts";
import type { TwinManual } from "./manual.ts";
import type { SandboxView, SpokenLine } from "./sandbox-view.ts";

/** What the platform hands a twin when a sandbox starts. */
export interface TwinContext {
  sandbox: string;
  /** Service name, also the last segment of its addresses. */
  name: string;
  /** HTTP address of the vendor API, without a slash at the end. */
  url: string;
  /** The sandbox's clock: every timestamp a twin makes comes from it. */
  clock: MovingClock;
  /** For what does not come over the gateway, such as a database's statements: it stands in `/sim/requests` as well. */
  journal: Pick<Journal, "record">;
  /** For what does not come over the gateway: the faults that are armed for the twin's `connections`. */
  faults: FaultGate;
  view: SandboxView;
  log: Logger;
  /**
   * Resolves a path that the service's `config` names against the environment file's folder.
   * @throws Error when whoever wrote the config may not name it
   */
  resolvePath(path: string): string;
  /**
   * The error to throw when files that the `config` names cannot be used. Whoever may name some files only is not told
   * the reason, which may quote what is in them: it is in the log.
   * @param paths as the config has them
   */
  fileError(paths: string, reason: unknown): Error;
  /**
   * A variable of the machine that the service's `config` names, such as one that holds a key; `undefined`: it is not set.
   * @throws Error when whoever wrote the config may not name it
   */
  variable(name: string): string | undefined;
  /** How large a store that the twin keeps on disk may become; its own limit when absent. */
  storeLimitBytes?: number | undefined;
  /** Where this sandbox's callbacks go when nothing nearer says otherwise: what `PUT /sim/client` has registered. */
  callbackDestination?(): CallbackDestination | undefined;
  /**
   * The dataset of the twin's service, as it is now; `undefined` when there is none. It changes while the twin runs: the
   * twin is then reset, and has to work on what this answers from there on.
   */
  dataset?(): Pick<Dataset, "file" | "description"> | undefined;
}

/** Whether a twin can be used at the moment, as `/sim/health` reports it. */
export type TwinHealth =
  | { status: "ok" }
  /** It works in part (`degraded`) or not at all (`down`); `problem` says what happened and what to do. */
  | { status: "degraded" | "down"; problem: string };

/** A twin at work in one sandbox. */
export interface RunningTwin {
  world: World;
  /** Connection string, for a twin whose `url` is not the gateway's (a database). */
  url?: string;
  /** Puts the world back to what it was at start, or to a named profile. @throws WorldRefusal for an unknown profile. */
  reset(profile?: string): Promise<void>;
  stop(): Promise<void>;
  /** How it is at this moment, found out within seconds; absent for a twin that runs whenever this process does. */
  health?(): Promise<TwinHealth>;
  /** What was said in the calls of a simulation, for a twin that carries calls. */
  spoken?(simulationId: string): SpokenLine[];
}

/** Something that faults, the journal and `/sim/operations` name as they name an operation, but that no request is. */
interface ConnectionOperation {
  id: string;
  /** What its records have as their method: `CONNECT`, `QUERY`. */
  method: string;
  /** What their path looks like, with `:name` segments. */
  path: string;
  summary: string;
}

export interface TwinDefinition<Config, Twin extends RunningTwin> {
  /** Service name in `environment.yaml` and in addresses. */
  name: string;
  /** The vendor it stands in for, as `/sim/health` and the log name it. */
  vendor: string;
  /** API versions served, for `/sim/manual`. */
  versions: string[];
  /** Host names of the vendor's cloud that reach this twin: `api.example.com`, or `*.example.com` for all below it. */
  cloudHosts?: string[];
  /** Shape of the service's `config` in `environment.yaml`. */
  config: z.ZodType<Config>;
  operations: Operation<Twin>[];
  sockets?: SocketOperation<Twin>[];
  /** Makes the datasets of the service, for one that works on any. */
  takesDataset?: OpenDatasetLibrary;
  /** What only this twin does, for `/sim/manual`; each sentence is proved by a test of the same id. */
  manual?: TwinManual;
  /** Credentials accepted from the start, given the `url`; the journal masks them wherever they stand. */
  credentials?(url: string): string[];
  /** Request and response headers whose values the journal masks, beyond the platform's own list. */
  secretHeaders?: string[];
  /** Paths below `url` with `:name` segments; in a path that fits, the journal masks what stands at those names. */
  secretPathParams?: string[];
  /** JSON members whose values the journal masks in bodies, at any depth. */
  secretMembers?: string[];
  /** What it takes that does not come over the gateway, and asks its context's `faults` about; they have ids of their own. */
  connections?: readonly ConnectionOperation[];
  /** HTTP statuses that a fault may answer with; default none. */
  faultStatuses?: readonly number[];
  /** The vendor's own wording of what the platform refuses. @param request absent when it was to become a WebSocket */
  refusal(refusal: PlatformRefusal, request?: RefusedRequest): VendorResponse;
  start(context: TwinContext, config: Config): Promise<Twin>;
  /** Environment variables a client of this twin needs, given its `url`. */
  clientEnvironment(url: string): Record<string, string>;
}

/** Any twin, as the platform handles it. */
export type AnyTwinDefinition = TwinDefinition<unknown, RunningTwin>;

/** Declares a twin. Identity at run time; it exists so that types are inferred. */
export function defineTwin<Config, Twin extends RunningTwin>(
  definition: TwinDefinition<Config, Twin>,
): TwinDefinition<Config, Twin> {
  return definition;
}
