/**
 * A proxy of one sandbox in front of the server: bytes pass unchanged in both directions, and are recorded in the journal before the
 * other side has them. Armed faults delay or end what they hit.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { FaultGate } from "@offhook/platform/faults/connection-effects";
import type { Journal } from "@offhook/platform/journal/journal";
import type { Logger } from "pino";
import { GatedStatements } from "./gated-statements.ts";
import { SessionLog } from "./session-log.ts";
import { readOpening } from "./startup.ts";

export interface StatementProxy {
  /** The connection string of the database through the proxy. */
  url: string;
  /** Ends every connection. */
  stop(): Promise<void>;
}

export interface StatementProxyOptions {
  /** Connection string of the database. */
  url: string;
  journal: Pick<Journal, "record">;
  faults: FaultGate;
  log: Logger;
}

/** More than the database accepts, so that clients see its own refusal. */
const MAX_CONNECTIONS = 250;
/** Longest time for the startup packet, as in Postgres. */
const OPENING_MS = 60_000;

/** Listens on a free port of the loopback interface. */
export async function startStatementProxy(options: StatementProxyOptions): Promise<StatementProxy> {
  const target = new URL(options.url);
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return socket.setNoDelay(true);
  };
  const reach = () =>
    track(connect({ host: hostOf(target), port: Number(target.port) || 5432, allowHalfOpen: true }));
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    void serve(track(client), reach, options);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the statement proxy has no port");
  const url = new URL(options.url);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);
  return {
    url: url.href,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * The answer in place of an unreachable server: what Postgres answers while it starts or stops, so that clients know they may retry.
 * Source: "ErrorResponse" and "Error and Notice Message Fields" of the Postgres manual.
 */
const CANNOT_CONNECT_NOW = errorResponse({
  S: "FATAL",
  V: "FATAL",
  C: "57P03",
  M: "the database system is not accepting connections",
});

function errorResponse(fields: Record<string, string>): Buffer {
  const texts = Object.entries(fields).map(([type, text]) => `${type}${text}\0`);
  const body = Buffer.from(`${texts.join("")}\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Whether a proxy can read the statements to this server: not if the connection must be encrypted. */
export function isPlain(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get("sslmode") ?? "disable";
  return hostname !== "" && !searchParams.has("host") && ["disable", "allow", "prefer"].includes(mode);
}

async function serve(
  client: Socket,
  reach: () => Socket,
  { journal, faults, log }: StatementProxyOptions,
): Promise<void> {
  client.on("error", () => client.destroy());
  client.setTimeout(OPENING_MS, () => client.destroy());
  const opening = await readOpening(client);
  client.setTimeout(0);
  if (!opening) {
    client.destroy();
    return;
  }
  const gate = new GatedStatements(client, journal, faults);
  const session = opening.kind === "session" ? new SessionLog(gate, opening.parameters) : undefined;
  if (opening.kind === "session" && !(await gate.admit(opening.parameters))) return;
  const server = reach();
  server.on("error", (error) => {
    log.warn({ err: error }, "a connection to the database server failed");
    server.destroy();
  });
  let reached = false;
  server.once("connect", () => {
    reached = true;
  });
  server.once("close", () => {
    if (!reached && session) {
      session.serverSent(CANNOT_CONNECT_NOW);
      client.write(CANNOT_CONNECT_NOW);
    }
    session?.ended();
    client.destroySoon();
  });
  client.once("close", () => server.destroySoon());

  // Added before the pipes, so that a record exists before the other side has the bytes.
  if (session) {
    server.on("data", (chunk: Buffer) => session.serverSent(chunk));
    gate.setReader(session);
  }
  server.write(opening.packet);
  if (opening.rest.length > 0) gate.write(opening.rest);
  client.pipe(gate).pipe(server);
  server.pipe(client);
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
