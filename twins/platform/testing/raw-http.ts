/** Sends raw bytes and reads the answer to its end, for requests that no client library would make. */
import net from "node:net";

/** Opens a connection, writes `request`, and answers everything received until the other side closes. */
export function sendRaw(baseUrl: string, request: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = net.connect(Number(port), hostname, () => socket.write(request));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // The server may refuse before it has read the whole request; only its answer counts.
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
  });
}
