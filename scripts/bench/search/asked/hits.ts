/** Questions that are answered by a page of events. */
import { z } from "zod";
import type { Answer } from "../questions.ts";
import type { AskByHand, Variant } from "./question.ts";

/** Up to where a search counts unless it is told otherwise. */
const MOST_COUNTED = 10_000;

const page = z.object({
  hits: z.object({
    total: z.object({ value: z.number() }),
    hits: z.array(z.object({ _source: z.object({ trace: z.object({ id: z.string() }) }) })),
  }),
});

const scoredPage = z.object({
  hits: z.object({ hits: z.array(z.object({ _score: z.number() })) }),
});

/** How many there are, and which the page has, by their trace. */
export function readPage(body: unknown): Answer {
  const { total, hits } = page.parse(body).hits;
  return [[total.value], ...hits.map(({ _source }) => [_source.trace.id])];
}

/** The same, each with its score. */
export function readScoredPage(body: unknown): Answer {
  const scores = scoredPage.parse(body).hits.hits.map(({ _score }) => _score);
  return readPage(body).map((row, index) => (index === 0 ? row : [...row, scores[index - 1] ?? null]));
}

export function search(body: object, byHand: Variant["byHand"], read = readPage): Variant {
  return { path: "/logs/_search", body, read, byHand };
}

/** Events as they lie, those of a condition: as many as a page has, and how many there are. */
export async function pageByHand(
  ask: AskByHand,
  condition: string,
  values: string[] = [],
  rest = "LIMIT 10",
): Promise<Answer> {
  const events = await ask(`SELECT trace, * EXCLUDE (trace) FROM events WHERE ${condition} ${rest}`, values);
  const [counted] = await ask(
    `SELECT count(*) FROM (SELECT 1 FROM events WHERE ${condition} LIMIT ${MOST_COUNTED + 1})`,
    values,
  );
  return [[capped(counted?.[0])], ...events.map(([trace = null]) => [trace])];
}

/** Events by their rows, in the order in which these were found, each with its score. */
export async function rankedByHand(
  ask: AskByHand,
  found: readonly (string | number | null)[][],
): Promise<Answer> {
  const rows = found.map(([row]) => row);
  const events = await ask(
    `SELECT rowid, trace, * EXCLUDE (trace) FROM events WHERE rowid IN (${rows.join(", ")})`,
  );
  const traces = new Map(events.map(([row, trace]) => [row, trace ?? null]));
  const ranked = found.map(([row, score]) => [traces.get(row ?? null) ?? null, score ?? null]);
  return [[capped(found[0]?.[2])], ...ranked];
}

function capped(count: string | number | null | undefined): number {
  return Math.min(Number(count ?? 0), MOST_COUNTED);
}
