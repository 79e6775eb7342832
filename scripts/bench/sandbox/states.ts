/** How long it takes to make a sandbox, to reset it and to take a snapshot, by the number of its rows. */
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import type { BenchEnvironment } from "./environment.ts";

export interface StatesPlan {
  sizes: number[];
  /** How often each is done, by size. */
  rounds(rows: number): number;
  /** Longest wait for one of them. */
  patienceMs: number;
}

const resetAim = { rows: 10_000, aim: { kind: "at-most", limit: 50 } } as const;

interface Service {
  name: string;
  configOf(rows: number): object;
}

export async function states(
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
  sql: BenchEnvironment,
  plan: StatesPlan,
  progress: BenchOptions["progress"],
  figures: Figure[],
): Promise<void> {
  const services: Service[] = [
    { name: "rows", configOf: (rows) => ({ rows }) },
    { name: "postgres", configOf: sql.configOf },
  ];
  /** Milliseconds until the whole answer is there; not a number when it did not come in time, or is a refusal. */
  async function timed(method: string, path: string, body?: unknown): Promise<number> {
    const beganAt = performance.now();
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(plan.patienceMs),
      });
      for await (const _chunk of response.body ?? []);
      if (response.ok) return performance.now() - beganAt;
      progress(`${method} ${path}: HTTP ${response.status}`);
    } catch (error) {
      progress(`${method} ${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return Number.NaN;
  }

  try {
    // Keeps the database server running, which stops with the last sandbox that needs it.
    await timed("POST", "/sandboxes", {
      id: "keep",
      services: [{ name: "postgres", config: sql.configOf(plan.sizes[0] ?? 0) }],
    });
    for (const { name, configOf } of services) {
      for (const rows of plan.sizes) {
        const times = { created: [], reset: [], snapshot: [] } as Record<string, number[]>;
        // The first database of its kind makes the template that the others are copied from.
        for (let round = -1; round < plan.rounds(rows); round++) {
          const id = `${name}-${rows}`;
          const created = await timed("POST", "/sandboxes", {
            id,
            services: [{ name, config: configOf(rows) }],
          });
          const reset = await timed("POST", `/c/${id}/${name}/sim/reset`, {});
          const snapshot = await timed("POST", `/c/${id}/${name}/sim/snapshot`);
          await timed("DELETE", `/sandboxes/${id}`);
          if (round >= 0) {
            times.created?.push(created);
            times.reset?.push(reset);
            times.snapshot?.push(snapshot);
          }
        }
        const world = name === "rows" ? "memory" : "Postgres";
        for (const [what, all] of Object.entries(times)) {
          const median = percentile(all, 0.5);
          progress(`${world}, ${rows} rows: ${what} ${median.toFixed(1)} ms`);
          figures.push(
            figure({
              name: `${world}, ${rows} rows: ${what}`,
              unit: "ms",
              floor: null,
              measured: null,
              value: Number.isNaN(median) ? null : median,
              ...(what === "reset" && rows === resetAim.rows ? { aim: resetAim.aim } : {}),
            }),
          );
        }
      }
    }
  } finally {
    await timed("DELETE", "/sandboxes/keep");
  }
}
