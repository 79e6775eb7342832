/** Stands between a caller and an agent, to show what a call would be with another agent. */
import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";

export interface VoiceRelay {
  url: string;
  stop(): Promise<void>;
}

/** @param passes which of the agent's messages reach the caller; the caller's all reach the agent */
export async function startVoiceRelay(
  agentUrl: string,
  passes: (message: Buffer) => boolean,
): Promise<VoiceRelay> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  server.on("connection", (caller, request) => {
    const simulation = request.headers["x-simulation-id"];
    const headers = typeof simulation === "string" ? { "x-simulation-id": simulation } : {};
    const agent = new WebSocket(agentUrl, { headers });
    const early: Buffer[] = [];
    agent.on("open", () => {
      for (const message of early.splice(0)) agent.send(message);
    });
    caller.on("message", (message: Buffer) => {
      if (agent.readyState === WebSocket.OPEN) agent.send(message);
      else early.push(message);
    });
    agent.on("message", (message: Buffer, binary) => {
      if (passes(message)) caller.send(message, { binary });
    });
    agent.on("close", () => caller.close(1000));
    caller.on("close", () => agent.close(1000));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  return {
    url: `ws://127.0.0.1:${address.port}/voice`,
    stop: async () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, "close");
    },
  };
}
