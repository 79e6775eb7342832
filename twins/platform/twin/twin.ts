/** The definition of a twin: one `defineTwin({…})`, exported by the package's index and listed in `twins/registry.ts`. */
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
import type { Mask } from "../journal/mask.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { World } from "../world/world.ts";
import type { Dataset, OpenDatasetLibrary } from "./dataset.ts";
import type { TwinManual } from "./manual.ts";
import type { SandboxView, SpokenLine } from "./sandbox-view.ts";

/** What the platform hands a twin when a sandbox starts. */
export interface TwinContext {
  sandbox: string;
  /** Service name; also the last segment of the twin's addresses. */
  name: string;
  /** HTTP address of the vendor API, without a slash at the end. */
  url: string;
  /** The sandbox's clock, the source of every timestamp a twin makes. */
  clock: MovingClock;
  /** Records requests that do not pass the gateway, such as a database's statements, for `/sim/requests`. */
  journal: Pick<Journal, "record">;
  /** Masks secrets as the journal does, in what a twin keeps of its own requests. */
  mask: Pick<Mask, "body" | "path">;
  /** The faults armed for the twin's `connections`, whose requests do not pass the gateway. */
  faults: FaultGate;
  view: SandboxView;
  log: Logger;
  /** Makes spans of what the twin does of its own accord; those of its requests are the platform's. */
  telemetry: Telemetry;
  /**
   * Resolves a path that the service's `config` names against the environment file's folder.
   * @throws Error when whoever wrote the config may not name it
   */
  resolvePath(path: string): string;
  /**
   * Resolves a path that the `config` names, for writing. Absent: the sandbox may have no files of the machine written,
   * since a request wrote its config, or another organisation uses it.
   */
  resolveWritablePath?(path: string): string;
  /**
   * The error to throw when files named in the `config` cannot be used. If the author of the config may name only some
   * files, the reason, which may quote their content, goes to the log and not into the error.
   * @param paths as written in the config
   */
  fileError(paths: string, reason: unknown): Error;
  /**
   * Reads an environment variable named in the service's `config`, such as one that holds a key; `undefined`: it is not set.
   * @throws Error when whoever wrote the config may not name it
   */
  variable(name: string): string | undefined;
  /** Size limit of the twin's store on disk; absent: the twin's own default. */
  storeLimitBytes?: number | undefined;
  /** The default destination of callbacks: the one registered by `PUT /sim/client`. */
  callbackDestination?(): CallbackDestination | undefined;
  /**
   * The current dataset of the twin's service; `undefined` when there is none. When it changes, the platform resets the
   * twin, which must then load the new one.
   */
  dataset?(): Pick<Dataset, "file" | "description"> | undefined;
}

/** Whether a twin can be used at the moment, as `/sim/health` reports it. */
export type TwinHealth =
  | { status: "ok" }
  /** It works in part (`degraded`) or not at all (`down`); `problem` says what happened and what to do. */
  | { status: "degraded" | "down"; problem: string };

/** A running twin of one sandbox. */
export interface RunningTwin {
  world: World;
  /** Connection string of a twin that is not reached through the gateway (a database). */
  url?: string;
  /** Resets the world to its initial state, or to a named profile. @throws WorldRefusal for an unknown profile. */
  reset(profile?: string): Promise<void>;
  stop(): Promise<void>;
  /** Checks the twin's health within seconds; absent for a twin that has no dependencies outside this process. */
  health?(): Promise<TwinHealth>;
  /** The lines spoken in the calls of a simulation, for a twin that carries calls. */
  spoken?(simulationId: string): SpokenLine[];
}

/** A kind of non-HTTP request, with an id for faults, the journal and `/sim/operations`. */
interface ConnectionOperation {
  id: string;
  /** The method in its journal records: `CONNECT`; `QUERY`, whose body has the SQL as its `statement`. */
  method: string;
  /** The path in its journal records, with `:name` segments. */
  path: string;
  summary: string;
}

export interface TwinDefinition<Config, Twin extends RunningTwin> {
  /** Service name in `environment.yaml` and in addresses. */
  name: string;
  /** The vendor, as `/sim/health` and the log name it. */
  vendor: string;
  /** API versions served, for `/sim/manual`. */
  versions: string[];
  /** Host names of the vendor's cloud that lead to this twin: `api.example.com`, or `*.example.com` for all below it. */
  cloudHosts?: string[];
  /** Shape of the service's `config` in `environment.yaml`. */
  config: z.ZodType<Config>;
  operations: Operation<Twin>[];
  sockets?: SocketOperation<Twin>[];
  /** The twin's own routes of the control plane, below `/sim/`, beside those every twin has; no fault hits them. */
  controlOperations?: Operation<Twin>[];
  /** Opens the library that makes the service's datasets; absent: the service takes none. */
  takesDataset?: OpenDatasetLibrary;
  /** The twin's own sentences for `/sim/manual`, each proved by a test of the same id. */
  manual?: TwinManual;
  /** The initial credentials, given the `url`; the journal masks them wherever they appear. */
  credentials?(url: string): string[];
  /** Request and response headers whose values the journal masks, beyond the platform's own list. */
  secretHeaders?: string[];
  /** Paths below `url` with `:name` segments; the journal masks those segments in a matching path. */
  secretPathParams?: string[];
  /** JSON members whose values the journal masks in bodies, at any depth. */
  secretMembers?: string[];
  /** Kinds of requests that do not pass the gateway; the twin looks up their faults in its context. */
  connections?: readonly ConnectionOperation[];
  /** The `db.system.name` of its spans, for a database or a search engine. */
  database?: string;
  /** HTTP statuses that a fault may answer with; default none. */
  faultStatuses?: readonly number[];
  /** Words a refusal of the platform as the vendor would. @param request absent for a WebSocket upgrade */
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
