/** Requests to the log-query twin, one after another over a kept connection. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import type { RunningTwin } from "@offhook/log-store/bench/questions";
import { exchange } from "@offhook/platform/testing/bench/exchange";

const HEC_TOKEN = "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70";
const TOKEN = "splunk-twin-token";

export interface Found {
  rows: Record<string, unknown>[];
  /** From the request to the first bytes of a row, and to the end. */
  firstMs: number;
  ms: number;
}

export class SplunkClient {
  readonly #socket: Socket;
  readonly #base: URL;

  constructor(socket: Socket, base: URL) {
    this.#socket = socket;
    this.#base = base;
  }

  static async connect(twin: RunningTwin): Promise<SplunkClient> {
    const base = new URL(`${twin.baseUrl}/s/dev/splunk`);
    const socket = connect(Number(base.port), base.hostname).setNoDelay();
    await once(socket, "connect");
    return new SplunkClient(socket, base);
  }

  collect(body: string): Promise<string> {
    const { host, pathname } = this.#base;
    const head = `POST ${pathname}/services/collector HTTP/1.1\r\nhost: ${host}\r\nauthorization: Splunk ${HEC_TOKEN}\r\n`;
    return exchange(this.#socket, head, body);
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** One connection, kept: what making one takes is not the search's. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Runs a search whose rows are streamed. @throws Error when it is refused */
export async function exportSearch({ baseUrl }: RunningTwin, search: string): Promise<Found> {
  const beganAt = performance.now();
  const sending = request(`${baseUrl}/s/dev/splunk/services/search/v2/jobs/export`, {
    agent,
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/x-www-form-urlencoded" },
  });
  sending.end(new URLSearchParams({ search, output_mode: "json", preview: "0" }).toString());
  const [response]: IncomingMessage[] = await once(sending, "response");
  if (response === undefined) throw new Error("the search was not answered");
  let text = "";
  let firstMs = 0;
  response.setEncoding("utf8");
  for await (const chunk of response) {
    text += chunk;
    if (firstMs === 0 && text.includes('"result"')) firstMs = performance.now() - beganAt;
  }
  const ms = performance.now() - beganAt;
  if (response.statusCode !== 200) throw new Error(`the search was refused: ${text.slice(0, 500)}`);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const rows = lines.flatMap((line) => {
    const { result } = JSON.parse(line);
    return result === undefined ? [] : [result];
  });
  return { rows, firstMs: firstMs || ms, ms };
}
