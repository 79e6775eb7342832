/**
 * The one port of all twins. Vendor APIs live at `/s/<sandbox>/<twin>/…` and behind host names, control planes at
 * `/c/<sandbox>/<twin>/sim/…`, the sandboxes themselves at `/sandboxes`, and every other path is the engine's of the first
 * sandbox.
 */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { type Address, type HostLookup, hostName, readAddress } from "./address.ts";
import type { ApiKeys } from "./api-keys.ts";
import { serveControl, serveTwinControl } from "./control/serve.ts";
import { errorResponse } from "./errors.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "./http.ts";
import { listen } from "./listen.ts";
import type { HostedTwin, Sandbox } from "./sandbox.ts";
import type { SandboxRoutes } from "./sandbox-routes.ts";
import type { Sandboxes } from "./sandboxes.ts";
import { type Local, type Service, serveOperation } from "./serve.ts";
import { ENGINE } from "./services.ts";
import type { RunningTwin } from "./twin.ts";
import { createUpgrader, refuseUpgrade } from "./upgrade.ts";

export interface GatewayOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  keys: ApiKeys;
  log: Logger;
}

/** What a gateway leads to. */
export interface Served {
  sandboxes: Sandboxes;
  routes: SandboxRoutes;
  /** The sandbox whose engine answers at the root. */
  first: Sandbox;
}

export interface Gateway {
  /** `http://host:port`, without a slash at the end. */
  baseUrl: string;
  /** From here on requests are answered. */
  open(served: Served): void;
  /** Serves a connection that another listener has taken, as if it had come to the port. */
  accept(connection: Duplex): void;
  /** Takes no new connections; those that are open stay. Resolves when the last has gone. */
  refuse(): Promise<void>;
  /** Ends every connection and waits until they are gone. The sandboxes have to have ended before. */
  close(): Promise<void>;
}

/** Longest a request may take to arrive, and its headers. */
const REQUEST_MS = 60_000;
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

/** Connections open at a time, sockets included; more are turned away. */
const MAX_CONNECTIONS = 10_000;

/** Starts to listen. Until it is opened everything is answered with 503. @throws Error saying what to do. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const upgrader = createUpgrader();
  let served: Served | undefined;

  const lookup: HostLookup = (host) => served?.sandboxes.host(host);

  /** The twin whose vendor API an address names. */
  function find({ sandboxes, first }: Served, address: VendorAddress): TwinOfSandbox | undefined {
    const sandbox = address.kind === "engine" ? first : sandboxes.named(address.sandbox);
    const twin = sandbox?.twins.get(address.kind === "engine" ? ENGINE : address.twin);
    return sandbox && twin ? { sandbox, twin } : undefined;
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!served) {
      await refuseEarly(req, res, starting());
      return;
    }
    const address = addressOf(req, lookup);
    switch (address.kind) {
      case "sandboxes":
        return served.routes.serve(req, res, address);
      case "control":
        return serveControl(req, res, address, options.keys, served.sandboxes);
      case "nowhere":
        await refuseEarly(req, res, nowhere(address.path));
        return;
    }
    const found = find(served, address);
    if (found) return serveVendor(req, res, address, found);
    await refuseEarly(req, res, nowhere(address.path));
  }

  async function upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = addressOf(req, lookup);
    const found =
      served && (address.kind === "vendor" || address.kind === "engine") ? find(served, address) : undefined;
    if (!found || (address.kind !== "vendor" && address.kind !== "engine")) {
      refuseUpgrade(socket, nowhere(address.path));
      return;
    }
    if (found.sandbox.layout === "legacy") dropKey(req);
    return upgrader.upgrade(req, socket, head, found.twin, address);
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
    open(what) {
      served = what;
    },
    accept: (connection) => server.emit("connection", connection),
    refuse,
    async close() {
      const gone = refuse();
      server.closeAllConnections();
      await gone;
    },
  };
}

type VendorAddress = Extract<Address, { kind: "vendor" | "engine" }>;

interface TwinOfSandbox {
  sandbox: Sandbox;
  twin: HostedTwin;
}

/** Serves a twin's own address: the vendor API, and in the legacy layout the control plane beside it. */
function serveVendor(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): Promise<void> {
  if (sandbox.layout === "legacy") {
    dropKey(req);
    if (address.path === "/sim" || address.path.startsWith("/sim/")) {
      return serveTwinControl(req, res, address, { sandbox, twin });
    }
  }
  return sandbox.connections.answering(res, serveOperation(req, res, address, vendorService(twin)));
}

/** In the legacy layout a key means nothing, so it is gone before anything sees it. */
function dropKey(req: IncomingMessage): void {
  delete req.headers["x-api-key"];
}

/** Over TLS the server name counts when `Host` names no twin: it is what the client wanted to reach. */
function addressOf(req: IncomingMessage, lookup: HostLookup): Address {
  const { host } = req.headers;
  const serverName = "servername" in req.socket ? req.socket.servername : undefined;
  const named = typeof serverName === "string" && !lookup(hostName(host ?? "")) ? serverName : host;
  return readAddress(req.url ?? "/", named, lookup);
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
