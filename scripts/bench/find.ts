/** The benches there are: of the agent and the platform beside this file, of a twin in its package. Found by being there. */
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Bench } from "@offhook/platform/testing/bench/report";
import { z } from "zod";
import { PROJECT } from "../shared/folders.ts";
import { readPackages } from "../shared/packages.ts";

/** Programs that measure, beside the code that they share. */
const OWN = ["calls", "soak", "sandbox"];

const module = z.object({
  bench: z.custom<Bench>((value) => typeof value === "function", "must be a function"),
});

/** Loaders of the benches by name: their code is loaded when one is asked for. */
export async function findBenches(): Promise<Map<string, () => Promise<Bench>>> {
  const own = OWN.map((name) => [name, path.join(PROJECT, "scripts/bench", `${name}.ts`)] as const);
  const packages = readPackages(PROJECT).flatMap(({ bench, folder }) =>
    bench === undefined ? [] : [[bench, path.join(PROJECT, folder, "bench/bench.ts")] as const],
  );
  const found = [...own, ...packages].filter(([, file]) => existsSync(file));
  return new Map(
    found.map(([name, file]) => [
      name,
      async () => module.parse(await import(pathToFileURL(file).href)).bench,
    ]),
  );
}
