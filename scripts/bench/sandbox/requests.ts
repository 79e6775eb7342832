/** Requests per second of the gateway beside a bare express route that answers the same. */
import { once } from "node:events";
import { connect } from "node:net";
import { exchange } from "@offhook/platform/testing/bench/exchange";
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";

const connections = 16;
const warmUpMs = 500;
const share = { kind: "at-least", limit: 0.7 } as const;

export async function requests(
  urls: { gateway: string; express: string },
  { rounds, windowMs }: { rounds: number; windowMs: number },
  progress: BenchOptions["progress"],
): Promise<Figure[]> {
  const best = { express: 0, gateway: 0 };
  for (const url of Object.values(urls)) await load(url, warmUpMs);
  for (let round = 0; round < rounds; round++) {
    // They take turns, so that both have the same neighbours on the machine.
    for (const name of ["express", "gateway"] as const) {
      const rate = await load(urls[name], windowMs);
      best[name] = Math.max(best[name], rate);
      progress(`${name}: ${rate} requests/s`);
    }
  }
  const { express: floor, gateway: measured } = best;
  return [
    figure({ name: "gateway", unit: "requests/s", floor, measured, value: null }),
    figure({
      name: "… share of bare express",
      unit: "ratio",
      floor: null,
      measured: null,
      value: measured / floor,
      aim: share,
    }),
  ];
}

/** Requests answered in a second, one after another on each connection. @throws Error when an answer is another */
async function load(url: string, durationMs: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const head = `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: */*\r\nuser-agent: bench\r\n`;
  const endsAt = performance.now() + durationMs;
  let answered = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay();
      await once(socket, "connect");
      while (performance.now() < endsAt) {
        const answer = await exchange(socket, head, "");
        if (!answer.includes('"row 1"')) throw new Error(`not the answer of ${url}: ${answer}`);
        answered += 1;
      }
      socket.destroy();
    }),
  );
  return Math.round(answered / (durationMs / 1000));
}
