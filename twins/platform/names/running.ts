/** Finds running twins by their `.offhook/twins.json`. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { Reachable } from "./child-environment.ts";
import { namesSchema } from "./names.ts";

const locator = z.object({
  base_url: z.url(),
  api_key: z.string(),
  sandboxes: z.array(
    z.object({
      id: z.string(),
      twins: z.array(z.object({ name: z.string(), environment: z.record(z.string(), z.string()) })),
    }),
  ),
  names: namesSchema,
});

const ANSWER_MS = 2000;

/** The twins of the current folder, if they run and answer. */
export async function findRunning(): Promise<(Reachable & { baseUrl: string }) | undefined> {
  const reading = locator.safeParse(await readJson(path.resolve(".offhook", "twins.json")));
  if (!reading.success) return undefined;
  const { base_url, api_key, sandboxes, names } = reading.data;
  try {
    const health = await fetch(`${base_url}/c/${sandboxes[0]?.id}/engine/sim/health`, {
      headers: { "x-api-key": api_key },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return health.ok ? { baseUrl: base_url, sandboxes, names } : undefined;
  } catch {
    return undefined;
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
