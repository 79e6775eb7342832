/** The floor: the least a program between a caller and a voice runtime can do. No limits, no errors, no turns, no log. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import express from "express";
import { WebSocket, WebSocketServer } from "ws";
import { incident } from "./incident.ts";
import type { ProgramQuestions } from "./questions.ts";
import { cpu, memory } from "./usage.ts";

async function relay(caller: WebSocket, runtimeUrl: string): Promise<void> {
  const early: WebSocket.RawData[] = [];
  const keep = (data: WebSocket.RawData) => early.push(data);
  caller.on("message", keep);
  const created = await fetch(`${runtimeUrl}/call`, { method: "POST", body: "{}" });
  const { transport } = (await created.json()) as { transport: { websocketCallUrl: string } };
  const runtime = new WebSocket(transport.websocketCallUrl, { perMessageDeflate: false });
  runtime.on("open", () => {
    caller.off("message", keep);
    for (const data of early) runtime.send(data);
    caller.on("message", (data) => runtime.send(data));
    runtime.on("message", (data) => caller.send(data));
  });
  caller.on("close", () => runtime.close());
  runtime.on("close", () => caller.close());
}

function bareExpress() {
  return express().post("/tool", express.json(), (request, response) => {
    const { toolCallList } = request.body.message;
    const results = toolCallList.map(
      (call: { id: string; function: { arguments: Parameters<typeof incident>[0] } }) => ({
        toolCallId: call.id,
        result: JSON.stringify(incident(call.function.arguments)),
      }),
    );
    response.json({ results });
  });
}

answerQuestions<ProgramQuestions>({
  start: async ({ runtimeUrl }) => {
    const server = createServer(bareExpress());
    new WebSocketServer({ server, path: "/voice" }).on("connection", (caller) => relay(caller, runtimeUrl));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { voiceUrl: `ws://127.0.0.1:${port}/voice`, toolUrl: `http://127.0.0.1:${port}/tool` };
  },
  cpu,
  memory,
});
