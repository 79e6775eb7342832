/** How many events a second the event collector takes. */

import type { RunningTwin } from "@offhook/log-store/bench/questions";
import { logEvents } from "@offhook/log-store/made-logs";
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";
import { SplunkClient } from "./client.ts";

const clientCounts = [1, 8];
/** Events of a batch, and how many of them are sent in all at full size. */
const batches = [
  { size: 1, most: 5_000 },
  { size: 100, most: 100_000 },
  { size: 1000, most: 200_000 },
];
const aim = { kind: "at-least", limit: 20_000 } as const;

/** @param share of the events that are sent at full size */
export async function collectorRates(
  twin: RunningTwin,
  share: number,
  { progress }: BenchOptions,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { size, most } of batches) {
    const bodies = bodiesOf(size, Math.ceil((most * share) / size));
    for (const clients of clientCounts) {
      const rate = await send(twin, bodies, size, clients);
      const name = `collector, ${clients} client${clients > 1 ? "s" : ""}, batches of ${size}`;
      progress(`${name}: ${rate} events/s`);
      const given = {
        name,
        unit: "events/s",
        floor: null,
        measured: rate,
        value: size === 100 ? rate : null,
      };
      figures.push(figure(size === 100 ? { ...given, aim } : given));
    }
  }
  return figures;
}

/** Events stored in a second; each is acknowledged when it can be found. @throws Error when one was not taken */
async function send(
  twin: RunningTwin,
  bodies: readonly string[],
  size: number,
  clients: number,
): Promise<number> {
  const waiting = [...bodies];
  const beganAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = await SplunkClient.connect(twin);
      for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
        const answer = await client.collect(body);
        if (answer !== '{"text":"Success","code":0}') throw new Error(`the collector answered ${answer}`);
      }
      client.close();
    }),
  );
  return Math.round((bodies.length * size) / ((performance.now() - beganAt) / 1000));
}

/** Lines of a log with a few fields, as agents send them. */
function bodiesOf(size: number, count: number): string[] {
  const bodies: string[] = [];
  let body: string[] = [];
  let number = 0;
  for (const line of logEvents(size * count)) {
    const { log, service, host, message } = JSON.parse(line);
    const event = `level=${log.level} service=${service.name} n=${number++} ${message}`;
    body.push(
      JSON.stringify({ time: 1_768_478_400 + number / 1000, host: host.name, sourcetype: "app", event }),
    );
    if (body.length < size) continue;
    bodies.push(body.join("\n"));
    body = [];
  }
  return bodies;
}
