/** A store with documents, and helpers that run aggregations over it. */
import { identifier, type Sql, sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { everything, planAggregations } from "../../aggregations/aggregations.ts";
import type { AggregationContext, SyntaxContext } from "../../aggregations/context.ts";
import { parseAggregations } from "../../aggregations/parse.ts";
import { validatePipelines } from "../../aggregations/pipeline/validate.ts";
import { withBodyText } from "../../json/located-error.ts";
import { compactJson } from "../../json/write.ts";
import { type ErrorCause, VendorError } from "../../vendor/error.ts";

const nowMs = Date.parse("2026-03-15T10:30:45.678Z");

export async function storeOf(documents: readonly object[]): Promise<LogStore> {
  const store = await openLogStore();
  await store.write(documents.map((document) => ({ index: "logs", source: JSON.stringify(document) })));
  return store;
}

function contextOf(store: LogStore, more: Partial<AggregationContext> = {}): AggregationContext {
  return {
    fields: store.fields,
    fidelity: "specification",
    nowMs,
    index: "logs",
    ...more,
  };
}

const syntax: SyntaxContext = {
  readFilter: (json) => () => termFilter(json),
  readHits: () => () => ({
    order: [],
    render: async (groups) =>
      groups.map(({ rows, total }) => ({ total: { value: total, relation: "eq" }, hits: rows })),
  }),
};

/** `{"term": {"field": "value"}}` of a text field, or `{"match_all": {}}`. */
function termFilter(json: unknown): Sql {
  const query = json as { term?: Record<string, string>; match_all?: object };
  const [entry] = Object.entries(query.term ?? {});
  if (!entry) return sql`TRUE`;
  return sql`(d.${field(entry[0])} IS NOT DISTINCT FROM ${entry[1]})`;
}

function field(name: string): Sql {
  return identifier(name);
}

/** The answer's text. */
export async function aggregated(
  store: LogStore,
  aggs: unknown,
  {
    predicate = everything,
    scope = everything,
    typedKeys = false,
    ...more
  }: { predicate?: Sql; scope?: Sql; typedKeys?: boolean } & Partial<AggregationContext> = {},
): Promise<string> {
  const level = withBodyText(compactJson({ aggs }), () => parseAggregations(aggs, ["aggs"], syntax));
  validatePipelines(level);
  const plan = planAggregations(level, contextOf(store, more));
  const { body } = await plan.run(store, predicate, { scope, typedKeys });
  return compactJson(body);
}

/** The parts of a result that the tests read. */
export interface Answer {
  buckets: { key: unknown; key_as_string?: string; doc_count: number; [name: string]: unknown }[];
  after_key?: unknown;
}

/** The answer, parsed. */
export async function answered(...args: Parameters<typeof aggregated>): Promise<Record<string, Answer>> {
  return JSON.parse(await aggregated(...args));
}

export async function refused(...args: Parameters<typeof aggregated>): Promise<VendorError> {
  try {
    await aggregated(...args);
  } catch (error) {
    if (error instanceof VendorError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** The reasons of an error and its causes, outermost first. */
export async function refusal(...args: Parameters<typeof aggregated>): Promise<string> {
  const { cause, rootCause } = await refused(...args);
  const reasons = rootCause ? [rootCause.reason] : [];
  for (let one: ErrorCause | undefined = cause; one; one = one.caused_by) reasons.push(one.reason);
  return reasons.join("\n");
}
