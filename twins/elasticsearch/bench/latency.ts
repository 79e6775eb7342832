/** How long each question takes: of the twin over HTTP, and of plain DuckDB in SQL written by hand. */

import type { Facts } from "@offhook/log-store/bench/facts";
import type { FloorQuestions, RunningTwin } from "@offhook/log-store/bench/questions";
import type { Child } from "@offhook/platform/testing/bench/child";
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import type { Question } from "./asked/question.ts";
import { difference, questionsOf } from "./asked.ts";
import { TwinClient } from "./http.ts";

export interface LatencyPlan {
  rounds: number;
  /** Longest time spent on one question; there are `fewestRounds` in any case. */
  mostMs: number;
}

const fewestRounds = 3;
const ratioAim = { kind: "at-most", limit: 1.3 } as const;

interface Measured {
  twinMs: number[];
  floorMs: number[];
}

export async function latencies(
  facts: Facts,
  twin: RunningTwin,
  floor: Child<FloorQuestions>,
  plan: LatencyPlan,
  { progress }: BenchOptions,
  notes: string[],
): Promise<Figure[]> {
  const client = await TwinClient.connect(twin);
  const questions = questionsOf(facts);
  const figures: Figure[] = [];
  let alike = 0;
  try {
    for (const question of questions) {
      const measured = await ask(question, facts, client, floor, plan).catch((error: Error) => error);
      if (measured instanceof Error) {
        notes.push(`${question.name} was not measured: ${measured.message}`);
        progress(`${question.name}: ${measured.message}`);
        continue;
      }
      alike++;
      figures.push(...figuresOf(question, measured));
      const [floorMs, twinMs] = [percentile(measured.floorMs, 0.5), percentile(measured.twinMs, 0.5)];
      progress(
        `${question.name}: ${twinMs.toFixed(1)} ms, by hand ${floorMs.toFixed(1)} (${measured.twinMs.length} rounds)`,
      );
    }
  } finally {
    client.close();
  }
  const aim = { kind: "at-least", limit: questions.length } as const;
  return [
    ...figures,
    figure({
      name: "questions answered as by hand",
      unit: "",
      floor: null,
      measured: null,
      value: alike,
      aim,
    }),
  ];
}

/** They take turns, so that both have the same neighbours on the machine. @throws Error when they answer differently */
async function ask(
  question: Question,
  facts: Facts,
  client: TwinClient,
  floor: Child<FloorQuestions>,
  { rounds, mostMs }: LatencyPlan,
): Promise<Measured> {
  const measured: Measured = { twinMs: [], floorMs: [] };
  const { name, variants } = question;
  // Once each unmeasured, so that both have read what they need from the disk.
  const warmUp = variants.length;
  let endsAt = Number.POSITIVE_INFINITY;
  for (let round = 0; round < warmUp + rounds; round++) {
    if (round === warmUp) endsAt = performance.now() + mostMs;
    if (round >= warmUp + fewestRounds && performance.now() > endsAt) break;
    const number = round % variants.length;
    const variant = variants[number];
    if (!variant) continue;
    const byHand = await floor.ask("ask", { question: name, variant: number, facts });
    const text = JSON.stringify(variant.body);
    const sentAt = performance.now();
    const answer = await client.post(variant.path, text);
    const twinMs = performance.now() - sentAt;
    const differs = difference(readAnswer(variant.read, answer), byHand.answer);
    if (differs) throw new Error(`the twin's answer is another than by hand: ${differs}; asked ${text}`);
    if (round < warmUp) continue;
    measured.twinMs.push(twinMs);
    measured.floorMs.push(byHand.ms);
  }
  return measured;
}

function readAnswer(read: Question["variants"][number]["read"], text: string) {
  try {
    return read(JSON.parse(text));
  } catch (error) {
    throw new Error(`the twin answered ${text.slice(0, 500)}`, { cause: error });
  }
}

function figuresOf({ name, withinMs }: Question, { twinMs, floorMs }: Measured): Figure[] {
  const [floor, measured] = [percentile(floorMs, 0.5), percentile(twinMs, 0.5)];
  const tail = { floor: percentile(floorMs, 0.99), measured: percentile(twinMs, 0.99) };
  return [
    figure({ name: `${name}, p50`, unit: "ms", floor, measured, value: measured / floor, aim: ratioAim }),
    ...(withinMs === undefined
      ? []
      : [
          figure({
            name: "… p50 itself",
            unit: "ms",
            floor: null,
            measured: null,
            value: measured,
            aim: { kind: "at-most", limit: withinMs },
          }),
        ]),
    figure({ name: "… p99", unit: "ms", ...tail, value: null }),
  ];
}
