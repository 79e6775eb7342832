/** Tunnels of the localtunnel service, or of a server of one's own. https://github.com/localtunnel/localtunnel */
import localtunnel from "localtunnel";
import fetch from "node-fetch";
import { messageOf } from "../log.ts";
import type { OpenTunnel, Tunnel } from "./tunnel.ts";

const PROBE_TIMEOUT_MS = 5_000;
const OPEN_TIMEOUT_MS = 10_000;
/** A tunnel without a single connection to its server for this long is dead. */
const NO_CONNECTION_MS = 5_000;

/**
 * @param serverUrl address of the tunnel server
 * @param ownUrl where the agent listens
 */
export function localtunnelOpener(serverUrl: string, ownUrl: string): OpenTunnel {
  const { port, hostname } = new URL(ownUrl);
  // Naming a local host makes the client rewrite the Host header by text; it does so only where it has to.
  const localHost = hostname === "127.0.0.1" || hostname === "localhost" ? {} : { local_host: hostname };
  // A tunnel that is opened again asks for its old name: running calls know the agent by it.
  let subdomain: { subdomain?: string } = {};
  return async () => {
    await probe(serverUrl);
    const options = { port: Number(port), host: serverUrl, ...localHost, ...subdomain };
    const client = await openInTime(localtunnel(options));
    const { died, connected } = watch(client);
    try {
      await connected;
    } catch (error) {
      client.close();
      throw error;
    }
    const url = client.url.replace(/\/+$/, "");
    const [name] = new URL(url).hostname.split(".");
    if (name !== undefined) subdomain = { subdomain: name };
    return { url, died, close: async () => client.close() } satisfies Tunnel;
  };
}

/** The client itself asks an absent server once a second for ever, so it is only started when the server answers. */
async function probe(serverUrl: string): Promise<void> {
  try {
    const response = await fetch(`${serverUrl}/api/status`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      size: 64 * 1024,
    });
    await response.text();
    if (response.status >= 500) throw new Error(`it answered ${response.status}`);
  } catch (error) {
    throw new Error(`the tunnel server ${serverUrl} cannot be reached: ${messageOf(error)}`);
  }
}

async function openInTime(opening: Promise<localtunnel.Tunnel>): Promise<localtunnel.Tunnel> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the tunnel server gave no tunnel within ${OPEN_TIMEOUT_MS} ms`));
      opening.then(
        (late) => late.close(),
        () => {},
      );
    }, OPEN_TIMEOUT_MS);
  });
  try {
    return await Promise.race([opening, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Follows the connections a client keeps to its server: it says itself when one is refused, but not when all are gone.
 */
function watch(client: localtunnel.Tunnel): { died: Promise<string>; connected: Promise<void> } {
  let connections = 0;
  let alone: NodeJS.Timeout | undefined;
  let failConnecting: (error: Error) => void = () => {};
  const connected = new Promise<void>((resolve, reject) => {
    failConnecting = reject;
    client.once("url", () => resolve());
  });
  const died = new Promise<string>((resolve) => {
    function die(reason: string): void {
      clearTimeout(alone);
      client.close();
      failConnecting(new Error(reason));
      resolve(reason);
    }
    function waitAlone(): void {
      clearTimeout(alone);
      alone = setTimeout(() => die("no connection to the tunnel server is left"), NO_CONNECTION_MS);
      alone.unref();
    }
    client.on("error", (error: Error) => die(error.message));
    client.once("close", () => clearTimeout(alone));
    client.tunnelCluster.on("open", () => {
      connections += 1;
      clearTimeout(alone);
    });
    client.tunnelCluster.on("dead", () => {
      connections -= 1;
      if (connections <= 0) waitAlone();
    });
    waitAlone();
  });
  return { died, connected };
}
