/** Requests to the twin, one after another over a kept connection. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { DatasetFormat, RunningTwin } from "@offhook/log-store/bench/questions";
import { exchange } from "@offhook/platform/testing/bench/exchange";

const mediaTypes = { ndjson: "application/x-ndjson", csv: "text/csv" } as const;

/** One connection to the vendor API of the twin. */
export class TwinClient {
  readonly #socket: Socket;
  readonly #base: URL;

  constructor(socket: Socket, base: URL) {
    this.#socket = socket;
    this.#base = base;
  }

  static async connect(twin: RunningTwin): Promise<TwinClient> {
    const base = new URL(`${twin.baseUrl}/s/dev/elasticsearch`);
    const socket = connect(Number(base.port), base.hostname).setNoDelay();
    await once(socket, "connect");
    return new TwinClient(socket, base);
  }

  /** Posts, and answers with the whole body. @param type the body's media type */
  post(path: string, body: string, type = "application/json"): Promise<string> {
    const { host, pathname } = this.#base;
    const head = `POST ${pathname}${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${type}\r\naccept: */*\r\nuser-agent: bench\r\n`;
    return exchange(this.#socket, head, body);
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Sends a file as the twin's dataset. Answers when the twin is ready to be asked. @throws Error when it is refused */
export async function upload(twin: RunningTwin, file: string, format: DatasetFormat): Promise<void> {
  const sending = request(datasetUrl(twin), {
    method: "POST",
    headers: { "x-api-key": twin.apiKey, "content-type": mediaTypes[format] },
  });
  const answered = once(sending, "response");
  await Promise.all([pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), sending), answered]);
  const [response] = await answered;
  const answer = await text(response);
  if (response.statusCode !== 201) throw new Error(`the upload was refused: ${answer.slice(0, 500)}`);
}

export async function deleteDataset(twin: RunningTwin): Promise<void> {
  const response = await fetch(datasetUrl(twin), {
    method: "DELETE",
    headers: { "x-api-key": twin.apiKey },
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`the dataset was not deleted: ${answer.slice(0, 500)}`);
}

function datasetUrl({ baseUrl }: RunningTwin): URL {
  return new URL(`${baseUrl}/environments/dev/datasets/elasticsearch`);
}
