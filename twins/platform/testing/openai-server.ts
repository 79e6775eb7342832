/** A stand-in for an OpenAI-compatible server: records requests and gives the test's answers. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Endpoint } from "../openai/http.ts";

interface OpenAiRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface OpenAiServer {
  endpoint: Endpoint;
  requests: OpenAiRequest[];
  /** Writes the answer to a request. */
  answer: (response: ServerResponse, request: OpenAiRequest) => void | Promise<void>;
  stop(): Promise<void>;
}

export const OPENAI_KEY = "sk-stand-in-key";

export async function startOpenAiServer(timeoutMs = 60_000): Promise<OpenAiServer> {
  const http = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const request = { path: req.url ?? "", headers: req.headers, body: Buffer.concat(chunks) };
    server.requests.push(request);
    await server.answer(res, request);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const server: OpenAiServer = {
    endpoint: { baseUrl: `http://127.0.0.1:${port}/v1`, key: OPENAI_KEY, timeoutMs },
    requests: [],
    answer: (response) => void response.writeHead(404).end(),
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

/** A streamed completion of these deltas. */
export function completion(deltas: object[]): string {
  const chunks = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
  return `${chunks.join("")}data: [DONE]\n\n`;
}
