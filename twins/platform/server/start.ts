/** Starts the twins of an environment in this process, for `npm run twins`, the demo and the tests. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Duplex } from "node:stream";
import { type Logger, pino } from "pino";
import { endWithin } from "../base/deadline.ts";
import { reasonOf } from "../base/reason.ts";
import { controlOperations } from "../control/serve.ts";
import { Environments, FIRST_ENVIRONMENT } from "../datasets/environments.ts";
import { Libraries } from "../datasets/libraries.ts";
import { createApiKeys, type KeyEntry, keyEntry, LOCAL_ORGANISATION, makeApiKey } from "../http/api-keys.ts";
import { createAuthenticator } from "../http/authentication.ts";
import { createSessions } from "../http/session.ts";
import { PlatformKeys } from "../journal/known-secrets.ts";
import { MASK } from "../journal/mask.ts";
import { OrganisationJournals } from "../journal/organisation-journals.ts";
import {
  type ActorSetup,
  agentEnvironment,
  channelFinder,
  type RunningChannel,
} from "../sandboxes/agent-setup.ts";
import { type Environment, readEnvironment } from "../sandboxes/environment.ts";
import { createGivenReach } from "../sandboxes/given-reach.ts";
import { DEFAULT_SNAPSHOT_BYTES, type Reach } from "../sandboxes/sandbox.ts";
import { addressesOf, type TwinAddresses } from "../sandboxes/sandbox-description.ts";
import { FIRST_SANDBOX } from "../sandboxes/sandbox-refusal.ts";
import { Sandboxes } from "../sandboxes/sandboxes.ts";
import { type CheckedService, withEngine } from "../sandboxes/services.ts";
import { NO_TELEMETRY, type Telemetry } from "../telemetry/telemetry.ts";
import { DatasetRefusal, describeRefusal } from "../twin/dataset.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";
import { entryOf, type TwinEntry } from "../twin/twin-entry.ts";
import { createConsole, type LoadConsole } from "./console.ts";
import { createEnvironmentRoutes } from "./environment-routes.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import type { IssueCertificate } from "./own-port.ts";
import { createProjectRoutes, type ProjectRoutes, type ProjectRoutesEntry } from "./project-routes.ts";
import { createSandboxRoutes } from "./sandbox-routes.ts";

export type { TwinAddresses } from "../sandboxes/sandbox-description.ts";

export interface StartOptions {
  /** The available twins, loaded or not, including the engine. */
  twins: readonly (TwinEntry | AnyTwinDefinition)[];
  environmentFile: string;
  /** Default 0, a free port. */
  port?: number;
  /** Ports of services: as declared in the environment file (default), or free ones. */
  servicePorts?: "declared" | "free";
  /** Default 127.0.0.1. */
  host?: string;
  /** Key of the control plane, for the organisation that owns `dev`; generated when absent. */
  apiKey?: string;
  /** Keys of organisations, besides those of the environment file. */
  keys?: readonly KeyEntry[];
  /** Sandboxes of one organisation at a time; default 256. */
  maxSandboxes?: number;
  /** Environment variables that services of `POST /sandboxes` may name; default none. */
  givenVariables?: readonly string[];
  /** Where datasets are kept for the next start; absent: a temporary folder. */
  datasetFolder?: string;
  /** Limit of a dataset's file, both as sent and decompressed; default 4 GiB. */
  maxDatasetBytes?: number;
  /** Limit of a twin's snapshot, which is also the limit of a reset's body. */
  maxSnapshotBytes?: number;
  /** Issues a certificate for TLS at services' own ports, on first use; absent: they speak only HTTP. */
  certificate?: IssueCertificate;
  /** Host names to answer, besides those of the twins and of this machine; default none. */
  allowedHosts?: readonly string[];
  /** Origins of pages to answer, besides those of this machine; default none. */
  allowedOrigins?: readonly string[];
  /** Size limit of a log twin's store; default 8 GiB. */
  storeLimitBytes?: number;
  /** Loads the pages of `/console` for the first request; absent: nothing is served there. */
  console?: LoadConsole;
  /** Routes of packages for the project itself; default: none. */
  projectRoutes?: readonly ProjectRoutesEntry[];
  /** Finds the voice channels of agents that run, besides those of the environment file; default: none. */
  channels?: () => Promise<readonly RunningChannel[]>;
  /** Receives the control plane's keys, so that the caller's log can mask them; default: used by the journals alone. */
  platformKeys?: PlatformKeys;
  /** Receives the progress of the start, in words. */
  onProgress?: (what: string) => void;
  /** Default: silent. */
  log?: Logger;
  /** Default: off. Whoever started it stops it, after the twins. */
  telemetry?: Telemetry;
}

export interface RunningTwins {
  baseUrl: string;
  apiKey: string;
  /** Absent: there is none. */
  console?: {
    url: string;
    /** Makes an address that signs a browser in once, as the organisation that owns `dev`. */
    createLink(): string;
  };
  sandboxes: { id: string; twins: TwinAddresses[] }[];
  /** The twins' host names. */
  hostNames: Pick<Sandboxes, "host" | "hosts">;
  /** Serves a connection that another listener accepted. */
  accept(connection: Duplex): void;
  /** The environment file's channels from a caller to the agent. */
  channels: ActorSetup["channels"];
  /** The agent's variables from the environment file, with the simulation's id in place of `SIMULATION_ID`. */
  agentEnvironment(simulationId: string): Record<string, string>;
  /** Stops every twin, closes every connection and frees the port. Further calls wait for the first. */
  stop(): Promise<void>;
}

/** Default of `maxSandboxes`. */
const MAX_SANDBOXES = 256;

/** Default of `maxDatasetBytes`. */
const MAX_DATASET_BYTES = 4 * 1024 ** 3;

/**
 * Starts everything; every twin answers when this resolves.
 * @throws EnvironmentError naming file and line, or Error naming the port or the twin that did not start.
 */
export async function startTwins(options: StartOptions): Promise<RunningTwins> {
  const known = options.twins.map(entryOf);
  const environmentFile = path.resolve(options.environmentFile);
  const environment = await readEnvironmentFile(environmentFile, known);
  const services = (await withEngine(environment.services, known)).map((service) =>
    options.servicePorts === "free" ? withFreePort(service) : service,
  );
  const log = options.log ?? pino({ level: "silent" });
  const onProgress = options.onProgress ?? (() => undefined);
  const apiKey = options.apiKey ?? makeApiKey();
  const configured = [...environment.keys, ...(options.keys ?? [])];
  const owner = configured[0]?.organisation ?? LOCAL_ORGANISATION;
  const entries = [...configured, keyEntry(owner, apiKey)];
  const keys = createApiKeys(entries);
  const platformKeys = options.platformKeys ?? new PlatformKeys(MASK);
  for (const { sha256 } of configured) platformKeys.expect(sha256);
  platformKeys.declare(apiKey);
  const gateway = await startGateway({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    certificate: options.certificate,
    log,
  });
  const environments = new Environments(new Libraries(options.datasetFolder, log));
  const sandboxes = new Sandboxes({
    owner,
    environments,
    baseUrl: gateway.baseUrl,
    maxPerOrganisation: options.maxSandboxes ?? MAX_SANDBOXES,
    snapshotBytes: options.maxSnapshotBytes ?? DEFAULT_SNAPSHOT_BYTES,
    controlOperations,
    openPort: gateway.openPort,
    platformKeys,
    log,
    telemetry: options.telemetry ?? NO_TELEMETRY,
  });
  const folder = path.dirname(environmentFile);
  const ownReach: Reach = {
    resolvePath: (file) => path.resolve(folder, file),
    resolveWritablePath: (file) => path.resolve(folder, file),
    fileError: (_paths, reason) => (reason instanceof Error ? reason : new Error(String(reason))),
    variable: (name) => process.env[name],
    storeLimitBytes: options.storeLimitBytes,
  };
  try {
    const { layout } = environment;
    await beginDatasets(environments, services, ownReach, onProgress);
    const names = services.map(({ definition }) => definition.name);
    onProgress(`starting ${names.join(", ")}`);
    let started = 0;
    const first = await sandboxes.create(owner, {
      id: FIRST_SANDBOX,
      services,
      environment: FIRST_ENVIRONMENT,
      layout,
      reach: ownReach,
      onTwinStarted: (name) => {
        started += 1;
        onProgress(`${name} works (${started} of ${names.length})`);
      },
    });
    const projectEntries = options.projectRoutes ?? [];
    const projectPaths = projectEntries.map(({ path: each }) => each);
    const sessions = createSessions({
      baseUrl: gateway.baseUrl,
      owner,
      apiKey,
      keys: entries,
      paths: projectPaths,
    });
    const authenticator = createAuthenticator(keys, sessions);
    const journals = new OrganisationJournals(platformKeys);
    const channels = channelFinder(environment.actor, options.channels ?? (async () => []));
    const routes = createSandboxRoutes({
      sandboxes,
      environments,
      known,
      defaultServices: services.map(withoutNames),
      ownReach,
      givenReach: createGivenReach({
        base: folder,
        folders: environment.requestFolders,
        variables: options.givenVariables ?? [],
        storeLimitBytes: options.storeLimitBytes,
        log,
      }),
      // The environment file and the agents of this folder are the first organisation's.
      channelsOf: async (organisation) => (organisation === owner ? channels() : []),
      authenticator,
      journals,
      log,
    });
    const environmentRoutes = createEnvironmentRoutes({
      environments,
      known,
      reset: (place) => sandboxes.resetToDataset(place),
      sandboxesOf: (organisation) => sandboxes.list(organisation).map(({ sandbox }) => sandbox),
      maxBytes: options.maxDatasetBytes ?? MAX_DATASET_BYTES,
      authenticator,
      journals,
      log,
    });
    const projectRoutes = createProjectRoutes({
      entries: projectEntries,
      owner,
      authenticator,
      journals,
      log,
    });
    const console =
      options.console &&
      createConsole({
        load: options.console,
        baseUrl: gateway.baseUrl,
        keys,
        sessions,
        journals,
        projectRoutesOf: (organisation) => (organisation === owner ? projectPaths : []),
        channels,
        log,
      });
    gateway.open({
      authenticator,
      sandboxes,
      routes,
      environments: environmentRoutes,
      projectRoutes,
      console,
      first: first.sandbox,
    });
    let stopping: Promise<void> | undefined;
    return {
      baseUrl: gateway.baseUrl,
      apiKey,
      ...(console ? { console: { url: console.url, createLink: () => console.createLink(owner) } } : {}),
      sandboxes: [{ id: first.sandbox.id, twins: addressesOf(first) }],
      hostNames: sandboxes,
      accept: gateway.accept,
      channels: environment.actor.channels,
      agentEnvironment: (simulationId) => agentEnvironment(environment.agent, simulationId),
      stop() {
        stopping ??= stop({ gateway, sandboxes, environments, projectRoutes, log });
        return stopping;
      },
    };
  } catch (error) {
    await environments.stop();
    await gateway.close();
    throw error;
  }
}

/** Reads the datasets of the environment file. @throws Error naming the service, and what is wrong with its file */
async function beginDatasets(
  environments: Environments,
  services: readonly CheckedService[],
  { resolvePath }: Pick<Reach, "resolvePath">,
  onProgress: (what: string) => void,
): Promise<void> {
  for (const { definition, dataset } of services) {
    if (dataset === undefined) continue;
    const what = `reading the dataset ${path.basename(dataset)} of ${definition.name}`;
    onProgress(what);
    try {
      await environments.begin(definition, resolvePath(dataset), (how) => onProgress(`${what}: ${how}`));
    } catch (error) {
      const reason = error instanceof DatasetRefusal ? describeRefusal(error) : reasonOf(error);
      throw new Error(`the dataset ${dataset} of service ${definition.name} was not read: ${reason}`, {
        cause: error,
      });
    }
  }
}

function withFreePort(service: CheckedService): CheckedService {
  return service.port === undefined ? service : { ...service, port: 0 };
}

/** A service for another sandbox, without host names and port, which belong to the first one. */
function withoutNames({ port: _port, ...service }: CheckedService): CheckedService {
  return { ...service, dnsAliases: [] };
}

async function readEnvironmentFile(file: string, known: readonly TwinEntry[]): Promise<Environment> {
  const shown = path.relative(process.cwd(), file);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`the environment file ${shown} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  return readEnvironment(text, shown, known);
}

/** Time limits of ending the sandboxes with their twins, and the datasets; later work is abandoned. */
const SANDBOXES_END_MS = 5000;
const DATASETS_END_MS = 1500;
const PROJECT_ROUTES_END_MS = 1000;

interface Stoppable {
  gateway: Gateway;
  sandboxes: Sandboxes;
  environments: Environments;
  projectRoutes: ProjectRoutes;
  log: Logger;
}

/** Stops everything. Refuses new connections first, so that the twins' work only decreases. */
async function stop({ gateway, sandboxes, environments, projectRoutes, log }: Stoppable): Promise<void> {
  const gone = gateway.refuse();
  await sandboxes.stop(SANDBOXES_END_MS);
  try {
    await endWithin(DATASETS_END_MS, environments.stop());
  } catch (error) {
    log.error({ err: error }, "the datasets were not closed");
  }
  try {
    await endWithin(PROJECT_ROUTES_END_MS, projectRoutes.stop());
  } catch (error) {
    log.error({ err: error }, "the project's routes were not closed");
  }
  await gateway.close();
  await gone;
}
