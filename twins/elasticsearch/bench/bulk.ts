/** How many documents a second `_bulk` takes. */

import type { RunningTwin } from "@offhook/log-store/bench/questions";
import { logEvents } from "@offhook/log-store/made-logs";
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";
import { z } from "zod";
import { TwinClient } from "./http.ts";

const BATCH = 1000;
const clients = [1, 4];

const done = z.object({ errors: z.literal(false), items: z.array(z.unknown()).length(BATCH) });

export async function bulk(
  twin: RunningTwin,
  batchesEach: number,
  { progress }: BenchOptions,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const bodies = batches(batchesEach);
  for (const count of clients) {
    const rate = await write(twin, bodies, count);
    progress(`_bulk, ${count} at a time: ${rate} documents/s`);
    const name = `_bulk, ${count} client${count > 1 ? "s" : ""}`;
    figures.push(figure({ name, unit: "docs/s", floor: null, measured: rate, value: null }));
  }
  return figures;
}

/** Documents written in a second. @throws Error when one was not */
async function write(twin: RunningTwin, bodies: readonly string[], clients: number): Promise<number> {
  const waiting = [...bodies];
  const beganAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = await TwinClient.connect(twin);
      for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
        const answer = await client.post("/bulk/_bulk", body, "application/x-ndjson");
        const read = done.safeParse(JSON.parse(answer));
        if (!read.success) throw new Error(`_bulk answered ${answer.slice(0, 500)}`);
      }
      client.close();
    }),
  );
  return Math.round((bodies.length * BATCH) / ((performance.now() - beganAt) / 1000));
}

function batches(count: number): string[] {
  const bodies: string[] = [];
  let body = "";
  let documents = 0;
  for (const event of logEvents(count * BATCH)) {
    body += `{"index":{}}\n${event}\n`;
    if (++documents % BATCH > 0) continue;
    bodies.push(body);
    body = "";
  }
  return bodies;
}
