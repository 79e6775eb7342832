/** Minimal HTTP over a persistent connection: a full client would take more time than the measured server. */
import type { Socket } from "node:net";

/** Sends one request and resolves with the answer's body once all of it is there. */
export function exchange(socket: Socket, head: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    let bodyAt = -1;
    let endsAt = -1;
    const gone = () => reject(new Error("the server closed the connection"));
    const take = (data: Buffer) => {
      received += data.toString("latin1");
      if (bodyAt < 0) {
        const end = received.indexOf("\r\n\r\n");
        if (end < 0) return;
        bodyAt = end + 4;
        endsAt = bodyAt + contentLength(received.slice(0, end));
      }
      if (received.length < endsAt) return;
      socket.off("data", take);
      socket.off("close", gone);
      resolve(received.slice(bodyAt));
    };
    socket.on("data", take);
    socket.once("close", gone);
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
}

function contentLength(head: string): number {
  for (const line of head.split("\r\n")) {
    const [name = "", value = ""] = line.split(":", 2);
    if (name.toLowerCase() === "content-length") return Number(value);
  }
  throw new Error("an answer without content-length");
}
