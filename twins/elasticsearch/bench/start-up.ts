/** How long it takes from the start of a process to its first answer, with a dataset that has been made before. */

import type { Facts } from "@offhook/log-store/bench/facts";
import type { House } from "@offhook/log-store/bench/house";
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { questionsOf } from "./asked.ts";
import { TwinClient } from "./http.ts";
import { startFloor, startTwin } from "./programs.ts";

const QUESTION = "match, rare words";
const aim = { kind: "at-most", limit: 1000 } as const;

export async function startUp(
  house: House,
  given: { environmentFile: string; database: string; facts: Facts },
  rounds: number,
  { progress }: BenchOptions,
): Promise<Figure[]> {
  const twinMs: number[] = [];
  const floorMs: number[] = [];
  // The first finds out which dataset the file is.
  await twinAnswers(house, given);
  for (let round = 0; round < rounds; round++) {
    floorMs.push(await floorAnswers(house, given));
    twinMs.push(await twinAnswers(house, given));
  }
  const [floor, measured] = [percentile(floorMs, 0.5), percentile(twinMs, 0.5)];
  progress(`first answer after ${measured.toFixed(0)} ms; of plain DuckDB after ${floor.toFixed(0)} ms`);
  return [
    figure({
      name: "first answer after the start of a process",
      unit: "ms",
      floor,
      measured,
      value: measured,
      aim,
    }),
  ];
}

async function twinAnswers(
  house: House,
  { environmentFile, facts }: { environmentFile: string; facts: Facts },
): Promise<number> {
  const beganAt = performance.now();
  const child = startTwin(house);
  try {
    const client = await TwinClient.connect(
      await child.ask("start", { environmentFile, datasetFolder: house.datasetFolder }),
    );
    const variant = questionsOf(facts).find(({ name }) => name === QUESTION)?.variants[0];
    if (!variant) throw new Error(`there is no question "${QUESTION}"`);
    const answer = await client.post(variant.path, JSON.stringify(variant.body));
    const ms = performance.now() - beganAt;
    client.close();
    if (variant.read(JSON.parse(answer)).length < 2) throw new Error(`nothing was found: ${answer}`);
    return ms;
  } finally {
    await child.stop();
  }
}

async function floorAnswers(
  house: House,
  { database, facts }: { database: string; facts: Facts },
): Promise<number> {
  const beganAt = performance.now();
  const child = startFloor(house);
  try {
    await child.ask("open", { database });
    await child.ask("ask", { question: QUESTION, variant: 0, facts });
    return performance.now() - beganAt;
  } finally {
    await child.stop();
  }
}
