/** Reads a twin's `GET /sim/watch` until closed; reopens the stream when the twin ends it. */
import { z } from "zod";

const change = z.object({ table: z.string(), row: z.record(z.string(), z.unknown()).optional() });

export type WatchedChange = z.infer<typeof change>;

export class WatchStream {
  /** Resolves once every further change will be seen; rejects when the stream cannot be opened. */
  readonly ready: Promise<void>;
  readonly #abort = new AbortController();

  constructor(url: string, headers: Record<string, string>, onChange: (change: WatchedChange) => void) {
    this.ready = new Promise((resolve, reject) => {
      void this.#run(url, headers, onChange, resolve).catch(reject);
    });
  }

  close(): void {
    this.#abort.abort();
  }

  async #run(
    url: string,
    headers: Record<string, string>,
    onChange: (change: WatchedChange) => void,
    ready: () => void,
  ): Promise<void> {
    const { signal } = this.#abort;
    try {
      while (!signal.aborted) {
        const response = await fetch(url, { headers, signal });
        if (!response.ok || response.body === null) {
          throw new Error(`${new URL(url).pathname} answered HTTP ${response.status}`);
        }
        for await (const { event, data } of readEvents(response.body)) {
          if (event === "ready") ready();
          if (event === "change") onChange(change.parse(JSON.parse(data)));
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Server-Sent Events of a body (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; data: string }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      yield { event: field("event").join(""), data: field("data").join("\n") };
    }
  }
}
