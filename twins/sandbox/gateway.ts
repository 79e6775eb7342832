/**
 * The one port of all twins. Vendor APIs live at `/s/<sandbox>/<twin>/…` and behind host names, control planes at
 * `/c/<sandbox>/<twin>/sim/…`, and every other path is the engine's of the first sandbox.
 */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { type HostLookup, readAddress } from "./address.ts";
import type { ApiKeys } from "./api-keys.ts";
import { serveControl } from "./control/serve.ts";
import { errorResponse } from "./errors.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "./http.ts";
import { listen } from "./listen.ts";
import type { HostedTwin, Sandbox } from "./sandbox.ts";
import { type Service, serveOperation } from "./serve.ts";
import type { RunningTwin } from "./twin.ts";
import { createUpgrader, refuseUpgrade } from "./upgrade.ts";

export interface GatewayOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  keys: ApiKeys;
  log: Logger;
}

export interface Gateway {
  /** `http://host:port`, without a slash at the end. */
  baseUrl: string;
  /** Makes a sandbox reachable. The first one also answers at the root. */
  add(sandbox: Sandbox, hostNames: ReadonlyMap<string, string>): void;
  /** Takes no new connections; those that are open stay. Resolves when the last has gone. */
  refuse(): Promise<void>;
  /** Ends every connection, sockets with 1001, and waits until they are gone. */
  close(): Promise<void>;
}

/** The engine's service name: what answers at the root. */
export const ENGINE = "engine";

/** Longest a request may take to arrive, and its headers. */
const REQUEST_MS = 60_000;
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

/** Connections open at a time, sockets included; more are turned away. */
const MAX_CONNECTIONS = 10_000;

/** Starts to listen. Until a sandbox is added everything is answered with 503. @throws Error saying what to do. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const sandboxes = new Map<string, Sandbox>();
  const hosts = new Map<string, { sandbox: string; twin: string }>();
  const lookup: HostLookup = (host) => hosts.get(host);
  const upgrader = createUpgrader();
  const find = (sandbox: string, twin: string) => sandboxes.get(sandbox)?.twins.get(twin);
  const root = () => [...sandboxes.values()][0]?.twins.get(ENGINE);

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const address = readAddress(req.url ?? "/", req.headers.host, lookup);
    if (address.kind === "control") {
      const sandbox = sandboxes.get(address.sandbox);
      return serveControl(req, res, { ...address, sandbox }, options.keys);
    }
    if (address.kind === "nowhere") {
      await refuseEarly(req, res, nowhere(address.path));
      return;
    }
    const twin = address.kind === "engine" ? root() : find(address.sandbox, address.twin);
    if (twin) return serveOperation(req, res, address, vendorService(twin));
    await refuseEarly(req, res, sandboxes.size === 0 ? starting() : nowhere(address.path));
  }

  async function upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = readAddress(req.url ?? "/", req.headers.host, lookup);
    let twin: HostedTwin | undefined;
    if (address.kind === "vendor") twin = find(address.sandbox, address.twin);
    if (address.kind === "engine") twin = root();
    if (twin && (address.kind === "vendor" || address.kind === "engine")) {
      return upgrader.upgrade(req, socket, head, twin, address);
    }
    refuseUpgrade(socket, nowhere(address.path));
  }

  const server = http.createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5000,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", (req, res) => {
    serve(req, res).catch((error: unknown) => {
      options.log.error({ err: error }, "a request could not be answered");
      res.destroy();
    });
  });
  server.on("upgrade", (req, socket, head) => {
    socket.on("error", () => socket.destroy());
    upgrade(req, socket, head).catch((error: unknown) => {
      options.log.error({ err: error }, "an upgrade could not be answered");
      socket.destroy();
    });
  });

  const baseUrl = await listen(server, options.host, options.port);
  let closed: Promise<void> | undefined;
  const refuse = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    return closed;
  };
  return {
    baseUrl,
    add(sandbox, hostNames) {
      sandboxes.set(sandbox.id, sandbox);
      for (const [host, twin] of hostNames) hosts.set(host, { sandbox: sandbox.id, twin });
    },
    refuse,
    async close() {
      const gone = refuse();
      await upgrader.close();
      server.closeAllConnections();
      await gone;
    },
  };
}

function vendorService(twin: HostedTwin): Service<RunningTwin> {
  return {
    tier: "vendor",
    operations: twin.type.operations,
    target: twin.running,
    twin,
    defaultBodyBytes: DEFAULT_BODY_BYTES,
    refusal: (refusal) => twin.type.definition.refusal(refusal),
  };
}

function nowhere(path: string) {
  return errorResponse(404, "not_found", `there is no such sandbox or twin: ${path.slice(0, 200)}`);
}

function starting() {
  const response = errorResponse(503, "starting", "the twins are starting; try again in a second");
  return { ...response, headers: { "retry-after": "1" } };
}
