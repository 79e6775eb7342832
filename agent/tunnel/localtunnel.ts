/** Tunnels of the localtunnel service, or of a self-hosted server. https://github.com/localtunnel/localtunnel */
import type { Socket } from "node:net";
import Client, { type Registration } from "localtunnel/lib/Tunnel.js";
import fetch from "node-fetch";
import { z } from "zod";
import { withDeadline } from "../deadline.ts";
import { messageOf } from "../log.ts";
import { type OpenTunnel, type Tunnel, TunnelServerBusy } from "./tunnel.ts";

const REGISTER_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** A tunnel without a single connection to its server for this long is dead. */
const NO_CONNECTION_MS = 5_000;
/** Connections a server may ask for; the public one asks for ten. */
const MAX_CONNECTIONS = 32;
/** A connection that ends within this time and never carried a byte was of no use. */
const USELESS_BELOW_MS = 1_000;
/** After this many useless connections in a row, the server is closing every connection. */
const MAX_USELESS = 3 * MAX_CONNECTIONS;

const registrationSchema = z.object({
  id: z.string().min(1),
  port: z.number().int().min(1).max(65_535),
  url: z.url({ protocol: /^https?$/ }),
  ip: z.string().optional(),
  max_conn_count: z
    .number()
    .int()
    .min(1)
    .transform((count) => Math.min(count, MAX_CONNECTIONS))
    .optional(),
});

/**
 * @param serverUrl address of the tunnel server
 * @param localUrl where the tunnel leads to, on loopback
 */
export function localtunnelOpener(serverUrl: string, localUrl: string): OpenTunnel {
  const port = Number(new URL(localUrl).port);
  // A reopened tunnel asks for its old name, because running calls have that address.
  let name: string | undefined;
  return async (signal) => {
    const registration = await register(serverUrl, name, signal);
    const client = new RegisteredClient(serverUrl, port, registration);
    const { died, connected } = supervise(client);
    try {
      await withDeadline(signal, NO_CONNECTION_MS, () => connected);
    } catch (error) {
      client.close();
      throw error;
    }
    name = registration.id;
    const url = registration.url.replace(/(?<!\/)\/+$/, "");
    return { url, died, close: async () => client.close() } satisfies Tunnel;
  };
}

/** The package's client without its way to register, which asks once a second for ever and cannot be stopped. */
class RegisteredClient extends Client {
  readonly #registration: Registration;

  constructor(serverUrl: string, port: number, registration: Registration) {
    super({ host: serverUrl, port });
    this.#registration = registration;
  }

  override _init(done: (error: Error | null, info?: object) => void): void {
    done(null, this._getInfo(this.#registration));
  }
}

/**
 * Asks the server for a tunnel, once.
 * @param name of an earlier tunnel, which it may have again
 */
async function register(
  serverUrl: string,
  name: string | undefined,
  signal: AbortSignal,
): Promise<Registration> {
  const path = name === undefined ? "?new" : encodeURIComponent(name);
  try {
    return await withDeadline(signal, REGISTER_TIMEOUT_MS, async (within) => {
      const response = await fetch(`${serverUrl}/${path}`, { signal: within, size: MAX_ANSWER_BYTES });
      const body = await response.text();
      if (response.status === 429 || response.status === 503) {
        const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
        throw new TunnelServerBusy(`it answered ${response.status}`, retryAfterMs);
      }
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      return readRegistration(body);
    });
  } catch (error) {
    const message = `the tunnel server ${serverUrl} gave no tunnel: ${messageOf(error)}`;
    throw error instanceof TunnelServerBusy
      ? new TunnelServerBusy(message, error.retryAfterMs)
      : new Error(message);
  }
}

function readRegistration(body: string): Registration {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new Error("its answer is not JSON");
  }
  const registration = registrationSchema.safeParse(json);
  if (registration.success) return registration.data;
  const members = registration.error.issues.map((issue) => issue.path.join(".") || "the whole");
  throw new Error(`its answer has no usable ${members.join(", ")}`);
}

/** Seconds or a date, https://www.rfc-editor.org/rfc/rfc9110#name-retry-after */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const durationMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(durationMs) ? Math.max(0, durationMs) : undefined;
}

/**
 * Opens the client's connections and follows them. The client itself replaces a connection that its server closed, at
 * once and for ever; it does not notice when all are gone, and loses the one whose request this machine cut off.
 */
function supervise(client: Client): { died: Promise<string>; connected: Promise<void> } {
  const remotes = new Set<Socket>();
  let useless = 0;
  let alone: NodeJS.Timeout | undefined;
  let failConnecting: (error: Error) => void = () => {};
  const connected = new Promise<void>((resolve, reject) => {
    failConnecting = reject;
    client.once("url", () => resolve());
  });
  // An attempt that is given up no longer waits for it.
  connected.catch(() => {});
  client.open(() => {});
  const { tunnelCluster } = client;
  const died = new Promise<string>((resolve) => {
    let over = false;
    function die(reason: string): void {
      client.close();
      failConnecting(new Error(reason));
      resolve(reason);
    }
    function waitAlone(): void {
      clearTimeout(alone);
      if (!over)
        alone = setTimeout(() => die("no connection to the tunnel server is left"), NO_CONNECTION_MS);
    }
    client.once("close", () => {
      over = true;
      clearTimeout(alone);
    });
    client.on("error", (error: Error) => die(error.message));
    let replaced = 0;
    tunnelCluster.on("dead", () => {
      replaced += 1;
    });
    tunnelCluster.on("open", (remote) => {
      const openedAt = performance.now();
      remotes.add(remote);
      clearTimeout(alone);
      remote.once("close", () => {
        remotes.delete(remote);
        if (remotes.size === 0) waitAlone();
        const wasUseless = remote.bytesRead === 0 && performance.now() - openedAt < USELESS_BELOW_MS;
        useless = wasUseless ? useless + 1 : 0;
        if (useless > MAX_USELESS && !over) die("the tunnel server closes every connection at once");
        const replacedBefore = replaced;
        // After the client's own listeners.
        process.nextTick(() => {
          if (!over && replaced === replacedBefore) tunnelCluster.open();
        });
      });
    });
    waitAlone();
  });
  return { died, connected };
}
