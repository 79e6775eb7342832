/** A client's webhook: records requests and gives the test's answers. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Watched } from "./watched.ts";

interface WebhookCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: ReturnType<typeof JSON.parse>;
  receivedAtMs: number;
}

interface WebhookReply {
  status?: number;
  headers?: Record<string, string>;
  /** Text is sent unchanged, anything else as JSON. */
  body?: unknown;
}

export interface WebhookServer {
  url: string;
  calls: WebhookCall[];
  /** Answers the next requests; a reply that never resolves hangs. */
  answer: (call: WebhookCall) => WebhookReply | Promise<WebhookReply>;
  /** Waits for `count` requests and returns them. */
  waitForCount(count: number): Promise<WebhookCall[]>;
  /** Waits for the first matching request. */
  waitFor(fits: (call: WebhookCall) => boolean): Promise<WebhookCall>;
  stop(): Promise<void>;
}

export async function startWebhookServer(): Promise<WebhookServer> {
  const watched = new Watched();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const call: WebhookCall = {
      path: req.url ?? "",
      headers: req.headers,
      body: text === "" ? undefined : JSON.parse(text),
      receivedAtMs: performance.now(),
    };
    hook.calls.push(call);
    watched.changed();
    const reply = await hook.answer(call);
    res.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    res.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  async function waitFor(fits: (call: WebhookCall) => boolean): Promise<WebhookCall> {
    await watched.until(() => hook.calls.some(fits), "a webhook request");
    const found = hook.calls.find(fits);
    if (!found) throw new Error("no such webhook request");
    return found;
  }

  const hook: WebhookServer = {
    url: `http://127.0.0.1:${port}`,
    calls: [],
    answer: () => ({ body: {} }),
    async waitForCount(count) {
      await watched.until(() => hook.calls.length >= count, `${count} webhook requests`);
      return hook.calls.slice(0, count);
    },
    waitFor,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hook;
}
