/**
 * A listener of one sandbox in front of the server: bytes pass through untouched in both directions, and what they say
 * is written into the journal before the other side has it. What a fault is armed for is held up.
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
  /** The connection string by which the database is reached through it. */
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

/** More than the database itself takes; its own refusal is what a client should see. */
const MAX_CONNECTIONS = 250;
/** How long a client may take to say what it wants, as Postgres allows. */
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
 * What a server says that takes no connections yet or any more, for one that is not there: a client knows that it may try
 * again. Source: "ErrorResponse" and "Error and Notice Message Fields" of the Postgres manual.
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

/** Whether statements can be seen on the way to this server: not when the connection is to be encrypted. */
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
  if (opening.kind === "session" && !(await gate.opened(opening.parameters))) return;
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

  // These listeners come before the pipes': a record is there before the other side has the bytes.
  if (session) {
    server.on("data", (chunk: Buffer) => session.serverSent(chunk));
    gate.reads(session);
  }
  server.write(opening.packet);
  if (opening.rest.length > 0) gate.write(opening.rest);
  client.pipe(gate).pipe(server);
  server.pipe(client);
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
