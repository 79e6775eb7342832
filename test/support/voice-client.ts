/** A caller of `/voice` for tests: sends what it is told and notes what it gets. It has no ear; the simulated caller has. */

import { Watched } from "@offhook/platform/testing/watched";
import { WebSocket } from "ws";

export interface VoiceClientOptions {
  framing?: "binary" | "json";
  headers?: Record<string, string>;
  subprotocols?: string[];
  /** Query of the address, without `?`. */
  query?: string;
}

export class VoiceClient {
  readonly socket: WebSocket;
  /** Sizes of the audio messages, in their order. */
  readonly audioSizes: number[] = [];
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #chunks: Buffer[] = [];
  readonly #watched = new Watched();
  #audioBytes = 0;
  #failure: Error | undefined;

  /** Connects; the answer is there when the socket is open. @throws the refusal of the upgrade */
  static async connect(agentUrl: string, options: VoiceClientOptions = {}): Promise<VoiceClient> {
    const client = new VoiceClient(agentUrl, options);
    await client.#watched.until(
      () => client.socket.readyState === WebSocket.OPEN || client.#failure !== undefined,
      "the caller's socket",
    );
    if (client.socket.readyState !== WebSocket.OPEN && client.#failure !== undefined) throw client.#failure;
    return client;
  }

  private constructor(
    agentUrl: string,
    { framing = "binary", headers = {}, subprotocols = [], query }: VoiceClientOptions,
  ) {
    const search = query ?? (framing === "json" ? "protocol=json" : "");
    this.socket = new WebSocket(`${agentUrl.replace("http", "ws")}/voice?${search}`, subprotocols, {
      headers,
      perMessageDeflate: false,
    });
    this.socket.on("open", () => this.#watched.changed());
    this.socket.on("error", (error) => {
      this.#failure = error;
      this.#watched.changed();
    });
    this.socket.on("unexpected-response", async (_request, response) => {
      let body = "";
      for await (const chunk of response) body += chunk;
      this.#failure = new Error(`the upgrade was refused with ${response.statusCode}: ${body}`);
      this.#watched.changed();
    });
    this.socket.on("message", (data, isBinary) => {
      if (!Buffer.isBuffer(data)) throw new TypeError("expected a Buffer");
      if (!isBinary) this.texts.push(data.toString());
      if (isBinary) this.#addAudio(data);
      else if (framing === "json") this.#addAudio(Buffer.from(JSON.parse(data.toString()).audio, "base64"));
      this.#watched.changed();
    });
    this.socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#watched.changed();
    });
  }

  get audioBytes(): number {
    return this.#audioBytes;
  }

  /** All audio received, in one piece. */
  audio(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  send(audio: Buffer): void {
    this.socket.send(audio);
  }

  sendJson(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  hangUp(): void {
    this.socket.close(1000);
  }

  received(audioBytes: number): Promise<void> {
    return this.#watched.until(() => this.#audioBytes >= audioBytes, `${audioBytes} bytes of agent audio`);
  }

  /** Waits for audio that ends with the given bytes. */
  lastAudio(end: Buffer): Promise<void> {
    return this.#watched.until(
      () => this.#chunks.at(-1)?.subarray(-end.length).equals(end) ?? false,
      "the last audio",
    );
  }

  async gone(): Promise<{ code: number; reason: string }> {
    await this.#watched.until(() => this.closed !== undefined, "the end of the caller's socket");
    return this.closed ?? { code: 0, reason: "" };
  }

  #addAudio(audio: Buffer): void {
    this.#chunks.push(audio);
    this.audioSizes.push(audio.length);
    this.#audioBytes += audio.length;
  }
}
