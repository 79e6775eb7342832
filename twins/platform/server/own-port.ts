/** A twin's own port (`port` of a service), with its vendor API at the root, over HTTP and TLS. */
import type { IncomingMessage } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Logger } from "pino";
import { wallTime } from "../base/clock.ts";
import type { AccessPolicy } from "../http/access-policy.ts";
import { createHttpServer, type HttpServer } from "../http/http-server.ts";
import { listen } from "../http/listen.ts";
import type { TwinOfSandbox } from "../sandboxes/sandbox.ts";
import type { OpenPort } from "../sandboxes/sandboxes.ts";
import type { Local } from "../sandboxes/serve.ts";
import type { Upgrader } from "../sandboxes/upgrade.ts";
import { findVendorUpgrade, refuseVendor, serveVendor } from "./vendor.ts";

/** Issues a certificate with its key, both PEM, for the machine's own names. */
export type IssueCertificate = () => Promise<{ certificate: string; key: string }>;

/** @throws Error naming the service and the port when it cannot be opened */
export async function openPort(
  of: TwinOfSandbox,
  options: {
    host: string;
    port: number;
    upgrader: Upgrader;
    access: AccessPolicy;
    /** Absent: the port speaks only HTTP. */
    certificate?: IssueCertificate | undefined;
    log: Logger;
  },
): Promise<OpenPort> {
  const server = createHttpServer(
    {
      async serve(req, res) {
        const reason = options.access.refuse(req);
        if (reason !== undefined) return refuseVendor(req, res, localOf(req), of, reason);
        await serveVendor(req, res, localOf(req), of);
      },
      findUpgrade: (req) =>
        options.access.refuse(req) === undefined
          ? findVendorUpgrade(options.upgrader, req, localOf(req), of)
          : undefined,
    },
    options.log,
  );
  const setting = `the port of service ${of.twin.type.definition.name}`;
  const { host, port, certificate } = options;
  if (certificate === undefined) {
    return { url: await server.listen(host, port, setting), close: server.close };
  }
  return listenForBoth(server, certificate, { host, port, setting, log: options.log });
}

/** First byte of a TLS handshake; no HTTP request begins with it. */
const TLS_HANDSHAKE = 0x16;
const HANDSHAKE_MS = 10_000;
const MAX_CONNECTIONS = 10_000;
/** Well below a certificate's validity. */
const RENEW_MS = 24 * 3_600_000;

/** Listens for HTTP and TLS on one port: the first byte of a connection tells them apart. */
async function listenForBoth(
  server: HttpServer,
  certificate: IssueCertificate,
  { host, port, setting, log }: { host: string; port: number; setting: string; log: Logger },
): Promise<OpenPort> {
  const sockets = new Set<Socket>();
  const tls = createTlsServer({
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_MS,
    noDelay: true,
  });
  tls.on("secureConnection", (socket) => {
    socket.on("error", () => socket.destroy());
    server.accept(socket);
  });
  tls.on("tlsClientError", (error, socket) => {
    log.debug({ err: error }, "a TLS handshake failed");
    socket.destroy();
  });
  let issued: { atMs: number; ready: Promise<void> } | undefined;
  const ready = () => {
    if (issued === undefined || wallTime() - issued.atMs > RENEW_MS) {
      const made = certificate().then(({ certificate: cert, key }) => tls.setSecureContext({ cert, key }));
      const next = { atMs: wallTime(), ready: made };
      issued = next;
      made.catch(() => {
        if (issued === next) issued = undefined;
      });
    }
    return issued.ready;
  };
  const take = async (socket: Socket) => {
    const first: Buffer | null = socket.read();
    if (first === null) return void socket.destroy();
    socket.setTimeout(0);
    socket.unshift(first);
    if (first[0] !== TLS_HANDSHAKE) return void server.accept(socket);
    await ready();
    tls.emit("connection", socket);
  };
  const listener = createTcpServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const cut = () => socket.destroy();
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", cut);
    socket.setTimeout(HANDSHAKE_MS, cut);
    const begun = () => {
      take(socket).catch((error: unknown) => {
        log.error({ err: error }, "there is no certificate for a port of a twin's own");
        cut();
      });
    };
    socket.once("readable", begun);
  });
  listener.maxConnections = MAX_CONNECTIONS;
  return {
    url: await listen(listener, host, port, setting),
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      await server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The vendor's path of a request; of an absolute URL, as proxies send it, only the path counts. */
function localOf(req: IncomingMessage): Local {
  const target = req.url ?? "/";
  const absolute = !target.startsWith("/") && URL.canParse(target) ? new URL(target) : undefined;
  const local = absolute ? `${absolute.pathname}${absolute.search}` : target;
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
