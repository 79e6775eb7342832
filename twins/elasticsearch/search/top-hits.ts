/** `top_hits`: the best hits of each bucket. */

import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { HitsPlan } from "../aggregations/context.ts";
import type { JsonRecord } from "../aggregations/options.ts";
import { Float } from "../json/numbers.ts";
import { isObject } from "../json/object.ts";
import type { JsonPath } from "../json/position.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { showSql } from "../query/show-sql.ts";
import type { SearchContext } from "./context.ts";
import { hitsOfPage, type PageHit } from "./hits.ts";
import type { SearchPlan } from "./plan.ts";
import { readSearchBody, type SearchRequest } from "./request.ts";
import { isSorted, type Sort } from "./sort.ts";
import { type SortKey, sortKey } from "./sort-key.ts";

/**
 * Reads the options of a `top_hits` except `from` and `size`.
 * @param path of the options in the body
 * @param text of the body
 * @throws VendorError
 */
export function readHitsRequest(
  options: JsonRecord,
  path: JsonPath,
  text: string | undefined,
): SearchRequest {
  return readSearchBody(jsonOf(options), text === undefined ? {} : { text, path });
}

export function planHits(request: SearchRequest, search: SearchPlan, context: SearchContext): HitsPlan {
  const sorts: Sort[] = request.sort.length === 0 ? [{ kind: "score", order: "desc" }] : request.sort;
  const keys = sorts.map((sort) => sortKey(sort, context.query, search.index));
  const showsSort = isSorted(sorts);
  // Hits sorted by something else show no score.
  const scores = !showsSort || request.trackScores;
  const needed = scores || sorts.some(({ kind }) => kind === "score");
  const score = needed ? scoreOf(search) : raw("CAST(NULL AS DOUBLE)");
  const plan: SearchPlan = {
    ...search,
    keys,
    scores,
    showsSort,
  };
  const value = (key: SortKey) => (key.value.text === "s.score" ? score : key.value);
  return {
    order: keys.map((key) => ({
      value: value(key),
      direction: raw(`${key.order.toUpperCase()} NULLS ${key.nullsFirst ? "FIRST" : "LAST"}`),
    })),
    async render(groups) {
      const rows = [...new Set(groups.flatMap((group) => group.rows))];
      const page = await readRows(rows, keys.map(value), score, plan, context);
      const hits = page.length === 0 ? [] : await hitsOfPage(page, request, plan, context);
      const byRow = new Map(
        page.map(({ row }, index) => [Number(row), { hit: hits[index], score: page[index]?.score }]),
      );
      return groups.map((group) => {
        const found = group.rows.flatMap((row) => byRow.get(row) ?? []);
        const scores = found.flatMap(({ score: one }) => (one === undefined ? [] : [one]));
        return {
          total: { value: group.total, relation: "eq" },
          max_score: plan.scores && scores.length > 0 ? new Float(Math.max(...scores)) : null,
          hits: found.map(({ hit }) => hit),
        };
      });
    },
  };
}

/** The score of document `d`. */
function scoreOf({ query }: SearchPlan): Sql {
  if (query.constantScore !== undefined) return sql`${query.constantScore}`;
  return sql`(SELECT s.score FROM (${query.scored}) AS s WHERE s._row = d._row)`;
}

async function readRows(
  rows: readonly number[],
  values: readonly Sql[],
  score: Sql,
  { keys }: SearchPlan,
  { notes, store, signal }: SearchContext,
): Promise<PageHit[]> {
  if (rows.length === 0) return [];
  const wanted = joined(
    rows.map((row) => sql`${BigInt(row)}`),
    ", ",
  );
  const columns = joined([raw("d._row"), score, ...values], ", ");
  const statement = sql`SELECT ${columns} FROM documents AS d WHERE d._row IN (${wanted})`;
  notes.addSql([showSql(statement)]);
  const answer = await store.query(statement, { signal });
  return answer.rows.map(([row, ofRow, ...found]) => ({
    row: BigInt(Number(row)),
    score: typeof ofRow === "number" ? ofRow : undefined,
    group: null,
    sort: keys.flatMap((key, index) => (key.isShown ? [key.show(found[index] ?? null)] : [])),
    keyValues: [],
  }));
}

/** The options were parsed from JSON, so this only narrows the type. */
function jsonOf(options: JsonRecord): JsonObject {
  return Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, Json] => isJson(entry[1])),
  );
}

function isJson(value: unknown): value is Json {
  return (
    value === null ||
    ["string", "number", "bigint", "boolean"].includes(typeof value) ||
    Array.isArray(value) ||
    isObject(value)
  );
}
