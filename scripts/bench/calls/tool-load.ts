/**
 * A webhook client that costs little: prebuilt requests over kept connections, one after another on each, because a full
 * HTTP client takes more time than the server it measures.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { exchange } from "@offhook/platform/testing/bench/exchange";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import type { FarEndsQuestions, ToolFigures } from "./questions.ts";

const settleMs = 300;
let nextCall = 0;

export async function postToolCalls(ask: FarEndsQuestions["tool"]["ask"]): Promise<ToolFigures> {
  const { hostname, port, pathname } = new URL(ask.toolUrl);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\nx-offhook-secret: ${ask.secret}\r\n`;
  const latencies: number[] = [];
  let requests = 0;
  const countFrom = performance.now() + settleMs;
  const countTo = countFrom + ask.durationMs;
  const sockets = await Promise.all(
    Array.from({ length: ask.connections }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay();
      await once(socket, "connect");
      return socket;
    }),
  );
  await Promise.all(
    sockets.map(async (socket) => {
      while (performance.now() < countTo) {
        const id = `call_${String(nextCall++).padStart(12, "0")}`;
        const sentAt = performance.now();
        const answer = await exchange(socket, head, toolCallBody(id));
        const answeredAt = performance.now();
        requests++;
        if (!answer.includes(id) || !answer.includes("INC-1042"))
          throw new Error(`not the answer to ${id}: ${answer}`);
        if (sentAt >= countFrom && answeredAt < countTo) latencies.push(answeredAt - sentAt);
      }
      socket.destroy();
    }),
  );
  return {
    requests,
    requestsPerSecond: latencies.length / (ask.durationMs / 1000),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** The members a runtime's webhook has, in the order it sends them. */
function toolCallBody(id: string): string {
  const call = {
    id,
    type: "function",
    function: {
      name: "open_incident",
      arguments: {
        service: "checkout",
        severity: 2,
        title: "Customers see an error page when they pay by card.",
      },
    },
  };
  return JSON.stringify({
    message: {
      timestamp: 1_772_443_860_000,
      type: "tool-calls",
      toolCalls: [call],
      toolCallList: [call],
      artifact: { messages: conversation },
      call: { id: "5f0f9c1e-6c43-4c8e-9a3a-6a2b9f4f5a10", type: "webCall", status: "in-progress" },
    },
  });
}

const conversation = Array.from({ length: 8 }, (_, i) => ({
  role: i % 2 === 0 ? "user" : "bot",
  message: "Hello, I need to open an incident for the checkout service.",
  time: 1_772_443_800_000 + i * 5_000,
  secondsFromStart: i * 5,
}));
