/** Starts the twins of an environment in this process: what `npm run twins`, the demo and the tests build on. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import { registry } from "../registry.ts";
import { createApiKeys, LOCAL_ORGANISATION, makeApiKey } from "./api-keys.ts";
import { SandboxClock } from "./clock.ts";
import { type Environment, type EnvironmentService, readEnvironment } from "./environment.ts";
import { ENGINE, type Gateway, startGateway } from "./gateway.ts";
import { compileTwin, type Sandbox, startSandbox, stopSandbox } from "./sandbox.ts";
import type { AnyTwinDefinition } from "./twin.ts";

export interface StartOptions {
  /** Default: `twins/environment.yaml`. */
  environmentFile?: string;
  /** Default 0, a free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Key of the control plane; made when absent. */
  apiKey?: string;
  /** Default: silent. */
  log?: Logger;
  /** The twins there are; default: `twins/registry.ts`. */
  twins?: readonly AnyTwinDefinition[];
}

/** A twin's addresses, in the form in which `npm run twins -- --json` prints them. */
export interface TwinAddresses {
  name: string;
  /** What the code under test uses. */
  url: string;
  /** Base of `/sim/…`. */
  control_url: string;
  control_auth: "api_key";
  /** Environment variables a client of this twin needs. */
  environment: Record<string, string>;
}

export interface RunningTwins {
  baseUrl: string;
  apiKey: string;
  sandboxes: { id: string; twins: TwinAddresses[] }[];
  /** Stops every twin, ends every connection and gives the port back. Further calls wait for the first. */
  stop(): Promise<void>;
}

/** The sandbox that exists after boot. */
const FIRST_SANDBOX = "dev";
const defaultEnvironment = fileURLToPath(new URL("../environment.yaml", import.meta.url));

/**
 * Starts everything; when it resolves, every twin answers.
 * @throws EnvironmentError naming file and line, or Error naming the port or the twin that did not start.
 */
export async function startTwins(options: StartOptions = {}): Promise<RunningTwins> {
  const environmentFile = path.resolve(options.environmentFile ?? defaultEnvironment);
  const environment = withEngine(
    await readEnvironmentFile(environmentFile, options.twins ?? registry),
    options.twins ?? registry,
  );
  const log = options.log ?? pino({ level: "silent" });
  const apiKey = options.apiKey ?? makeApiKey();
  const gateway = await startGateway({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    keys: createApiKeys({ [LOCAL_ORGANISATION]: apiKey }),
    log,
  });
  try {
    const sandbox = await startSandbox({
      id: FIRST_SANDBOX,
      organisation: LOCAL_ORGANISATION,
      clock: new SandboxClock(),
      baseUrl: gateway.baseUrl,
      services: environment.services.map(({ definition, config }) => ({
        type: compileTwin(definition),
        config,
      })),
      log,
      resolvePath: (file) => path.resolve(path.dirname(environmentFile), file),
    });
    gateway.add(sandbox, hostNames(environment.services));
    let stopping: Promise<void> | undefined;
    return {
      baseUrl: gateway.baseUrl,
      apiKey,
      sandboxes: [addressesOf(sandbox)],
      stop() {
        stopping ??= stop(gateway, sandbox);
        return stopping;
      },
    };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

async function readEnvironmentFile(file: string, known: readonly AnyTwinDefinition[]): Promise<Environment> {
  const shown = path.relative(process.cwd(), file);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the environment file ${shown} cannot be read: ${reason}`, { cause: error });
  }
  return readEnvironment(text, shown, known);
}

/** The engine is always there, listed or not. */
function withEngine(environment: Environment, known: readonly AnyTwinDefinition[]): Environment {
  if (environment.services.some(({ definition }) => definition.name === ENGINE)) return environment;
  const engine = known.find(({ name }) => name === ENGINE);
  if (!engine) return environment;
  const service: EnvironmentService = { definition: engine, config: engine.config.parse({}), dnsAliases: [] };
  return { services: [service, ...environment.services] };
}

function hostNames(services: readonly EnvironmentService[]): Map<string, string> {
  return new Map(
    services.flatMap(({ definition, dnsAliases }) => dnsAliases.map((alias) => [alias, definition.name])),
  );
}

function addressesOf(sandbox: Sandbox): RunningTwins["sandboxes"][number] {
  const twins = [...sandbox.twins.values()].map((twin): TwinAddresses => {
    const { name } = twin.type.definition;
    const environment = twin.type.definition.clientEnvironment(twin.url);
    return { name, url: twin.url, control_url: twin.controlUrl, control_auth: "api_key", environment };
  });
  return { id: sandbox.id, twins };
}

/** New connections are refused first, so that the twins can end what runs without more being added. */
async function stop(gateway: Gateway, sandbox: Sandbox): Promise<void> {
  const gone = gateway.refuse();
  await stopSandbox(sandbox);
  await gateway.close();
  await gone;
}
