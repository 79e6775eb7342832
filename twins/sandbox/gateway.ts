/**
 * The one port of all twins. Vendor APIs live at `/s/<sandbox>/<twin>/…` and behind host names, control planes at
 * `/c/<sandbox>/<twin>/sim/…`, the sandboxes themselves at `/sandboxes`, their environments at `/environments`, and every
 * other path is the engine's of the first sandbox.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { type Address, type HostLookup, hostName, readAddress } from "./address.ts";
import type { ApiKeys } from "./api-keys.ts";
import { serveControl } from "./control/serve.ts";
import { errorResponse } from "./errors.ts";
import { refuseEarly } from "./http.ts";
import { createHttpServer } from "./http-server.ts";
import { listen } from "./listen.ts";
import type { OrganisationRoutes } from "./organisation-routes.ts";
import { type OpenPort, openPort } from "./own-port.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Sandboxes } from "./sandboxes.ts";
import { ENGINE } from "./services.ts";
import { createUpgrader, refuseUpgrade } from "./upgrade.ts";
import { serveTwinAddress, serveVendor, type TwinOfSandbox, upgradeVendor } from "./vendor.ts";

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
  routes: OrganisationRoutes;
  environments: OrganisationRoutes;
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
  /** Makes a twin's vendor API answer at the root of a port of its own. @throws Error naming the port */
  openPort(of: TwinOfSandbox, port: number): Promise<OpenPort>;
  /** Takes no new connections; those that are open stay. Resolves when the last has gone. */
  refuse(): Promise<void>;
  /** Ends every connection and waits until they are gone. The sandboxes have to have ended before. */
  close(): Promise<void>;
}

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
      case "environments":
        return served.environments.serve(req, res, address);
      case "control":
        return serveControl(req, res, address, options.keys, served.sandboxes);
      case "nowhere":
        await refuseEarly(req, res, nowhere(address.path));
        return;
    }
    const found = find(served, address);
    if (found && address.kind === "twin") return serveTwinAddress(req, res, address, found);
    if (found) return serveVendor(req, res, address, found);
    await refuseEarly(req, res, nowhere(address.path));
  }

  async function upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = addressOf(req, lookup);
    if (served && leadsToVendor(address)) {
      const found = find(served, address);
      if (found) return upgradeVendor(upgrader, req, socket, head, address, found);
    }
    refuseUpgrade(socket, nowhere(address.path));
  }

  const server = createHttpServer({ serve, upgrade }, options.log);
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
    openPort: (of, port) => openPort(of, { ...options, port, upgrader }),
    refuse,
    async close() {
      const gone = refuse();
      server.closeAllConnections();
      await gone;
    },
  };
}

type VendorAddress = Extract<Address, { kind: "twin" | "host" | "engine" }>;

function leadsToVendor(address: Address): address is VendorAddress {
  return address.kind === "twin" || address.kind === "host" || address.kind === "engine";
}

/** Over TLS the server name counts when `Host` names no twin: it is what the client wanted to reach. */
function addressOf(req: IncomingMessage, lookup: HostLookup): Address {
  const { host } = req.headers;
  const serverName = "servername" in req.socket ? req.socket.servername : undefined;
  const named = typeof serverName === "string" && !lookup(hostName(host ?? "")) ? serverName : host;
  return readAddress(req.url ?? "/", named, lookup);
}

function nowhere(path: string) {
  return errorResponse(404, "not_found", `there is no such sandbox or twin: ${path.slice(0, 200)}`);
}

function starting() {
  const response = errorResponse(503, "starting", "the twins are starting; try again in a second");
  return { ...response, headers: { "retry-after": "1" } };
}
