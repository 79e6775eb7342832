/** Questions that are answered by a page of events. */

import type { Answer, AskByHand } from "@offhook/log-store/bench/questions";
import { z } from "zod";
import type { Variant } from "./question.ts";

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
function readPage(body: unknown): Answer {
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

/** Events of a condition, and how many there are. */
export interface PageByHand {
  condition: string;
  values?: string[];
  /** In the order of writing when absent: then no more are looked for than are counted. */
  order?: string;
  offset?: number;
  size?: number;
}

export async function pageByHand(
  ask: AskByHand,
  { condition, values = [], order, offset = 0, size = 10 }: PageByHand,
): Promise<Answer> {
  const found = await ask(
    `WITH found AS MATERIALIZED (
       SELECT rowid AS event, happened, duration FROM events WHERE ${condition}
       ${order === undefined ? `LIMIT ${MOST_COUNTED + 1}` : ""})
     SELECT event, (SELECT count(*) FROM found) FROM found
     ORDER BY ${order === undefined ? "" : `${order}, `}event LIMIT ${size} OFFSET ${offset}`,
    values,
  );
  const traces = await tracesByHand(ask, found);
  return [[capped(found[0]?.[1])], ...traces.map((trace) => [trace])];
}

/**
 * Events in which a column has a value that many have. All score the same: the more, the rarer the value.
 * @param events that there are
 */
export async function frequentValueByHand(
  ask: AskByHand,
  column: string,
  value: string,
  events: number,
): Promise<Answer> {
  const [counted] = await ask(`SELECT count(*) FROM events WHERE ${column} = ?`, [value]);
  const found = await ask(`SELECT rowid FROM events WHERE ${column} = ? LIMIT 10`, [value]);
  return valueRanked(ask, found, Number(counted?.[0]), events);
}

/** The same of a value that few have: to look for the first ten alone would read the whole column once more. */
export async function rareValueByHand(
  ask: AskByHand,
  column: string,
  value: string,
  events: number,
): Promise<Answer> {
  const found = await ask(
    `SELECT unnest(min(rowid, 10)) AS event, count(*) AS n FROM events WHERE ${column} = ?`,
    [value],
  );
  return valueRanked(ask, found, Number(found[0]?.[1] ?? 0), events);
}

function valueRanked(
  ask: AskByHand,
  found: readonly (string | number | null)[][],
  n: number,
  events: number,
): Promise<Answer> {
  const score = Math.log(1 + (events - n + 0.5) / (n + 0.5));
  return rankedByHand(
    ask,
    found.map(([row = null]) => [row, score, n]),
  );
}

/** Events by their rows, in the order in which these were found. @param found row, score, how many there are */
export async function rankedByHand(
  ask: AskByHand,
  found: readonly (string | number | null)[][],
): Promise<Answer> {
  const traces = await tracesByHand(ask, found);
  const ranked = found.map(([, score], index) => [traces[index] ?? null, score ?? null]);
  return [[capped(found[0]?.[2])], ...ranked];
}

/** Reads whole events, as a page has them. DuckDB looks at these rows alone when they are joined, but at all of a plain list. */
async function tracesByHand(ask: AskByHand, found: readonly (string | number | null)[][]) {
  const rows = found.map(([row]) => row);
  const events = await ask(
    `SELECT rowid, trace, * EXCLUDE (trace) FROM events WHERE rowid IN (SELECT unnest([${rows.join(", ")}]::BIGINT[]))`,
  );
  const traces = new Map(events.map(([row, trace]) => [row, trace ?? null]));
  return rows.map((row) => traces.get(row ?? null) ?? null);
}

function capped(count: string | number | null | undefined): number {
  return Math.min(Number(count ?? 0), MOST_COUNTED);
}
