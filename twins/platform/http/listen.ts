/** Makes a server listen, or says what to do when it cannot. */
import type { Server } from "node:net";

/**
 * Starts to listen. @returns the address as a URL without a final slash
 * @param portVariable the environment variable that sets the port.
 * @throws Error naming the port and the way out.
 */
export function listen(
  server: Server,
  host: string,
  port: number,
  portVariable = "TWINS_PORT",
): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(explainListenError(error, host, port, portVariable)));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("the server has no port"));
      else resolve(`http://${reachableHost(host)}:${address.port}`);
    });
  });
}

/** The port of a URL, including the scheme's default port, which `URL` leaves out. */
export function portOf(url: string): number {
  const { protocol, port } = new URL(url);
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** Explains why `host:port` cannot be used, and what to do about it. */
export function explainListenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  portVariable: string,
): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return new Error(
        `port ${port} on ${host} is in use, perhaps by twins that run already; stop those, or set ${portVariable} to another port (0 takes a free one)`,
      );
    case "EACCES":
      return new Error(`port ${port} on ${host} needs privileges; set ${portVariable} to one above 1023`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Error(
        `${host} is not an address of this machine; set TWINS_HOST to one that is (127.0.0.1)`,
      );
    default:
      return error;
  }
}

/** An address to connect to: replaces a wildcard address by loopback. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
