/**
 * The one port of all twins. Vendor APIs live at `/s/<sandbox>/<twin>/…` and behind host names, control planes at
 * `/c/<sandbox>/<twin>/sim/…`, the sandboxes themselves at `/sandboxes`, their environments at `/environments`, the console
 * at `/console`, what packages add for the project at paths of their own; `/` says what this is, and every other path is
 * the engine's of the first sandbox.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { serveControl } from "../control/serve.ts";
import { type AccessPolicyOptions, createAccessPolicy } from "../http/access-policy.ts";
import { type Address, type HostLookup, hostName, readAddress } from "../http/address.ts";
import type { Authenticator } from "../http/authentication.ts";
import { errorResponse } from "../http/errors.ts";
import { refuseEarly } from "../http/http.ts";
import { createHttpServer, type TakeUpgrade } from "../http/http-server.ts";
import type { Sandbox, TwinOfSandbox } from "../sandboxes/sandbox.ts";
import type { OpenPort, Sandboxes } from "../sandboxes/sandboxes.ts";
import { ENGINE } from "../sandboxes/services.ts";
import { createUpgrader } from "../sandboxes/upgrade.ts";
import { type Console, isolateDocument } from "./console.ts";
import type { OrganisationRoutes } from "./organisation-routes.ts";
import { type IssueCertificate, openPort } from "./own-port.ts";
import type { ProjectRoutes } from "./project-routes.ts";
import { rootResponse } from "./root-page.ts";
import { findVendorUpgrade, refuseVendor, serveTwinAddress, serveVendor } from "./vendor.ts";

export interface GatewayOptions extends Pick<AccessPolicyOptions, "allowedHosts" | "allowedOrigins"> {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** For TLS at the twins' own ports; absent: they speak only HTTP. */
  certificate?: IssueCertificate | undefined;
  log: Logger;
}

/** What a gateway serves. */
interface Served {
  authenticator: Authenticator;
  sandboxes: Sandboxes;
  routes: OrganisationRoutes;
  environments: OrganisationRoutes;
  projectRoutes: ProjectRoutes;
  /** Absent: `/console` is a path like any other. */
  console: Console | undefined;
  /** The sandbox whose engine answers at the root. */
  first: Sandbox;
}

export interface Gateway {
  /** `http://host:port`, without a slash at the end. */
  baseUrl: string;
  /** Starts answering requests. */
  open(served: Served): void;
  /** Serves a connection that another listener accepted. */
  accept(connection: Duplex): void;
  /** Makes a twin's vendor API answer at the root of a port of its own. @throws Error naming the port */
  openPort(of: TwinOfSandbox, port: number): Promise<OpenPort>;
  /** Stops accepting connections; open ones stay. Resolves when the last has closed. */
  refuse(): Promise<void>;
  /** Closes every connection and waits for that. Call it after the sandboxes have ended. */
  close(): Promise<void>;
}

/** Starts to listen. Answers everything with 503 until `open` is called. @throws Error saying what to do. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const upgrader = createUpgrader();
  let served: Served | undefined;

  const lookup: HostLookup = (host) => served?.sandboxes.host(host);
  const access = createAccessPolicy({
    ...options,
    ownHost: options.host,
    isTwinName: (host) => lookup(host) !== undefined,
  });

  /** The twin whose vendor API an address names. */
  function find({ sandboxes, first }: Served, address: VendorAddress): TwinOfSandbox | undefined {
    const sandbox = address.kind === "engine" ? first : sandboxes.running(address.sandbox);
    const twin = sandbox?.twins.get(address.kind === "engine" ? ENGINE : address.twin);
    return sandbox && twin ? { sandbox, twin } : undefined;
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!served) {
      await refuseEarly(req, res, startingResponse());
      return;
    }
    const { console } = served;
    const read = addressOf(req, lookup);
    const address = read.kind === "console" && !console ? { ...read, kind: "engine" as const } : read;
    const reason = access.refuse(req);
    if (reason !== undefined) {
      const found = leadsToVendor(address) ? find(served, address) : undefined;
      if (found && leadsToVendor(address)) return refuseVendor(req, res, address, found, reason);
      await refuseEarly(req, res, errorResponse(403, "forbidden", reason));
      return;
    }
    if (console && address.kind !== "console") isolateDocument(req, res);
    switch (address.kind) {
      case "sandboxes":
        return served.routes.serve(req, res, address);
      case "environments":
        return served.environments.serve(req, res, address);
      case "console":
        return console?.serve(req, res, address);
      case "control":
        return serveControl(req, res, address, served.authenticator, served.sandboxes);
      case "nowhere":
        await refuseEarly(req, res, notFoundResponse(address.path));
        return;
    }
    const ofProject = address.kind === "engine" ? served.projectRoutes.find(address.path) : undefined;
    if (ofProject) return ofProject.serve(req, res, address);
    if (
      address.kind === "engine" &&
      address.path === "/" &&
      (req.method === "GET" || req.method === "HEAD")
    ) {
      await refuseEarly(req, res, rootResponse(req, served.first, console?.url));
      return;
    }
    const found = find(served, address);
    if (found && address.kind === "twin") return serveTwinAddress(req, res, address, found);
    if (found) return serveVendor(req, res, address, found);
    await refuseEarly(req, res, notFoundResponse(address.path));
  }

  function findUpgrade(req: IncomingMessage): TakeUpgrade | undefined {
    const address = addressOf(req, lookup);
    if (!served || !leadsToVendor(address) || access.refuse(req) !== undefined) return undefined;
    const found = find(served, address);
    return found && findVendorUpgrade(upgrader, req, address, found);
  }

  const server = createHttpServer({ serve, findUpgrade }, options.log);
  return {
    baseUrl: await server.listen(options.host, options.port),
    open(what) {
      served = what;
    },
    accept: server.accept,
    openPort: (of, port) => openPort(of, { ...options, port, upgrader, access }),
    refuse: server.refuse,
    close: server.close,
  };
}

type VendorAddress = Extract<Address, { kind: "twin" | "host" | "engine" }>;

function leadsToVendor(address: Address): address is VendorAddress {
  return address.kind === "twin" || address.kind === "host" || address.kind === "engine";
}

/** Reads a request's address. Over TLS, the server name replaces a `Host` that names no twin. */
function addressOf(req: IncomingMessage, lookup: HostLookup): Address {
  const { host } = req.headers;
  const serverName = "servername" in req.socket ? req.socket.servername : undefined;
  const named = typeof serverName === "string" && !lookup(hostName(host ?? "")) ? serverName : host;
  return readAddress(req.url ?? "/", named, lookup);
}

function notFoundResponse(path: string) {
  return errorResponse(404, "not_found", `there is no such sandbox or twin: ${path.slice(0, 200)}`);
}

function startingResponse() {
  const response = errorResponse(503, "starting", "the twins are starting; try again in a second");
  return { ...response, headers: { "retry-after": "1" } };
}
