/** Starts the twins of an environment in this process: what `npm run twins`, the demo and the tests build on. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import { registry } from "../registry.ts";
import { type ActorSetup, agentEnvironment } from "./agent-setup.ts";
import { createApiKeys, type KeyEntry, keyEntry, LOCAL_ORGANISATION, makeApiKey } from "./api-keys.ts";
import { DatasetRefusal, describeRefusal } from "./datasets/dataset.ts";
import { Environments, FIRST_ENVIRONMENT } from "./datasets/environments.ts";
import { Libraries } from "./datasets/libraries.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { createEnvironmentRoutes } from "./environment-routes.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { pathsWithin, variablesAmong } from "./given-reach.ts";
import { OrganisationJournals } from "./organisation-journals.ts";
import type { Reach } from "./sandbox.ts";
import { addressesOf, type TwinAddresses } from "./sandbox-description.ts";
import { FIRST_SANDBOX } from "./sandbox-refusal.ts";
import { createSandboxRoutes } from "./sandbox-routes.ts";
import { Sandboxes } from "./sandboxes.ts";
import { type CheckedService, withEngine } from "./services.ts";
import type { AnyTwinDefinition } from "./twin.ts";
import { entriesOf, type TwinEntry } from "./twin-entry.ts";

export type { TwinAddresses } from "./sandbox-description.ts";

export interface StartOptions {
  /** Default: `twins/environment.yaml`. */
  environmentFile?: string;
  /** Default 0, a free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Key of the control plane, for the organisation that owns `dev`; made when absent. */
  apiKey?: string;
  /** Keys of organisations, beside those of the environment file. */
  keys?: readonly KeyEntry[];
  /** Most sandboxes of one organisation at a time; default 256. */
  mostSandboxes?: number;
  /** Variables of the machine that the services of `POST /sandboxes` may name; default none. */
  givenVariables?: readonly string[];
  /** Where datasets are kept for the next start; absent: in a folder of its own, removed at the end. */
  datasetFolder?: string;
  /** Largest file of which a dataset is made, as it is sent and decompressed; default 4 GiB. */
  mostDatasetBytes?: number;
  /** Default: silent. */
  log?: Logger;
  /** The twins there are; default: `twins/registry.ts`. */
  twins?: readonly AnyTwinDefinition[];
}

export interface RunningTwins {
  baseUrl: string;
  apiKey: string;
  sandboxes: { id: string; twins: TwinAddresses[] }[];
  /** The twin that a host name stands for. */
  hostNames: Pick<Sandboxes, "host" | "hosts">;
  /** Serves a connection that another listener has taken. */
  accept(connection: Duplex): void;
  /** How the environment file says that a caller reaches the agent. */
  channels: ActorSetup["channels"];
  /** The agent's variables as the environment file has them; a simulation's id fills in for `SIMULATION_ID`. */
  agentEnvironment(simulationId: string): Record<string, string>;
  /** Stops every twin, ends every connection and gives the port back. Further calls wait for the first. */
  stop(): Promise<void>;
}

const defaultEnvironment = fileURLToPath(new URL("../environment.yaml", import.meta.url));

/** Most sandboxes of an organisation, unless told otherwise. */
const MOST_SANDBOXES = 256;

/** Largest file of a dataset, unless told otherwise. */
const MOST_DATASET_BYTES = 4 * 1024 ** 3;

/**
 * Starts everything; when it resolves, every twin answers.
 * @throws EnvironmentError naming file and line, or Error naming the port or the twin that did not start.
 */
export async function startTwins(options: StartOptions = {}): Promise<RunningTwins> {
  const known = options.twins ? entriesOf(options.twins) : registry;
  const environmentFile = path.resolve(options.environmentFile ?? defaultEnvironment);
  const environment = await readEnvironmentFile(environmentFile, known);
  const services = await withEngine(environment.services, known);
  const log = options.log ?? pino({ level: "silent" });
  const apiKey = options.apiKey ?? makeApiKey();
  const configured = [...environment.keys, ...(options.keys ?? [])];
  const owner = configured[0]?.organisation ?? LOCAL_ORGANISATION;
  const keys = createApiKeys([...configured, keyEntry(owner, apiKey)]);
  const gateway = await startGateway({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    keys,
    log,
  });
  const environments = new Environments(new Libraries(options.datasetFolder, log));
  const sandboxes = new Sandboxes({
    owner,
    environments,
    baseUrl: gateway.baseUrl,
    mostPerOrganisation: options.mostSandboxes ?? MOST_SANDBOXES,
    openPort: gateway.openPort,
    log,
  });
  const folder = path.dirname(environmentFile);
  const ownReach: Reach = {
    resolvePath: (file) => path.resolve(folder, file),
    variable: (name) => process.env[name],
  };
  try {
    const { layout } = environment;
    await beginDatasets(environments, services, ownReach);
    const first = await sandboxes.create(owner, {
      id: FIRST_SANDBOX,
      services,
      environment: FIRST_ENVIRONMENT,
      layout,
      reach: ownReach,
    });
    const journals = new OrganisationJournals();
    const routes = createSandboxRoutes({
      sandboxes,
      environments,
      known,
      defaultServices: services.map(withoutNames),
      ownReach,
      givenReach: {
        resolvePath: pathsWithin([folder, process.cwd()]),
        variable: variablesAmong(options.givenVariables ?? []),
      },
      keys,
      journals,
      log,
    });
    const environmentRoutes = createEnvironmentRoutes({
      environments,
      known,
      reset: (place) => sandboxes.resetToDataset(place),
      mostBytes: options.mostDatasetBytes ?? MOST_DATASET_BYTES,
      keys,
      journals,
      log,
    });
    gateway.open({ sandboxes, routes, environments: environmentRoutes, first: first.sandbox });
    let stopping: Promise<void> | undefined;
    return {
      baseUrl: gateway.baseUrl,
      apiKey,
      sandboxes: [{ id: first.sandbox.id, twins: addressesOf(first) }],
      hostNames: sandboxes,
      accept: gateway.accept,
      channels: environment.actor.channels,
      agentEnvironment: (simulationId) => agentEnvironment(environment.agent, simulationId),
      stop() {
        stopping ??= stop(gateway, sandboxes, environments);
        return stopping;
      },
    };
  } catch (error) {
    await environments.stop();
    await gateway.close();
    throw error;
  }
}

/** Reads the datasets that the environment file names. @throws Error naming the service, and what is wrong with its file */
async function beginDatasets(
  environments: Environments,
  services: readonly CheckedService[],
  { resolvePath }: Pick<Reach, "resolvePath">,
): Promise<void> {
  for (const { definition, dataset } of services) {
    if (dataset === undefined) continue;
    try {
      await environments.begin(definition, resolvePath(dataset));
    } catch (error) {
      const reason = error instanceof DatasetRefusal ? describeRefusal(error) : reasonOf(error);
      throw new Error(`the dataset ${dataset} of service ${definition.name} was not read: ${reason}`, {
        cause: error,
      });
    }
  }
}

/** The same service for another sandbox: host names and ports are the first one's alone. */
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** New connections are refused first, so that the twins can end what runs without more being added. */
async function stop(gateway: Gateway, sandboxes: Sandboxes, environments: Environments): Promise<void> {
  const gone = gateway.refuse();
  await sandboxes.stop();
  await environments.stop();
  await gateway.close();
  await gone;
}
