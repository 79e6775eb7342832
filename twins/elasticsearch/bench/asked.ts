/** What `bench search` asks. */

import type { Facts } from "@offhook/log-store/bench/facts";
import type { Answer } from "@offhook/log-store/bench/questions";
import { exactQuestions } from "./asked/exact.ts";
import { groupQuestions } from "./asked/groups.ts";
import type { Question } from "./asked/question.ts";
import { wordQuestions } from "./asked/words.ts";

export function questionsOf(facts: Facts): Question[] {
  return [...exactQuestions(facts), ...wordQuestions(), ...groupQuestions];
}

/** Scores are of single precision. */
const TOLERANCE = 1e-6;

/** Where two answers differ first; `undefined` when they are the same. */
export function difference(one: Answer, other: Answer): string | undefined {
  if (one.length !== other.length) return `${one.length} rows, not ${other.length}`;
  for (const [index, row] of one.entries()) {
    const there = other[index] ?? [];
    if (row.length === there.length && row.every((value, n) => same(value, there[n] ?? null))) continue;
    return `row ${index + 1} is ${JSON.stringify(row)}, not ${JSON.stringify(there)}`;
  }
  return undefined;
}

function same(one: Answer[number][number], other: Answer[number][number]): boolean {
  if (typeof one !== "number" || typeof other !== "number") return one === other;
  if (Number.isInteger(one) && Number.isInteger(other)) return one === other;
  return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
}
