/** `map`: runs a search for each row. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import { compilePipeline } from "../compile-pipeline.ts";
import type { SearchContext } from "../context/search-context.ts";
import { limit } from "../relation/order.ts";
import type { Relation } from "../relation/relation.ts";
import { concatRows, type Rows, relationOf } from "../relation/rows.ts";
import { escapeQuotes } from "../search/format-rows.ts";
import { SplError } from "../spl-error.ts";
import { count, text } from "../syntax/option-types.ts";
import { resolveTime } from "../time/resolve-time.ts";

type MappedSearch = { kind: "search"; text: string } | { kind: "saved"; name: string };

const optionTypes = { maxsearches: count, search: text };

export const map = defineCommand({
  name: "map",
  kind: "report",
  parse(reader) {
    const before = reader.options(optionTypes);
    const template = reader.bracketed();
    const saved =
      template === undefined && before.search === undefined ? reader.text("a search to run") : undefined;
    const { maxsearches = 10, search = template } = { ...before, ...reader.options(optionTypes) };
    const target: MappedSearch =
      search === undefined ? { kind: "saved", name: saved ?? "" } : { kind: "search", text: search };
    return { maxSearches: maxsearches, target };
  },
  async compile({ maxSearches, target }, input, context) {
    const { template, within } = resolveSearch(target, context);
    const given = await context.run(limit(input, maxSearches + 1), maxSearches + 1);
    if (given.rows.length > maxSearches) {
      const text = `The search result count (${input.maxRows ?? given.rows.length}) exceeds maximum (${maxSearches}), using max. To override it, set maxsearches appropriately.`;
      context.warn({ type: "WARN", text });
    }
    return relationOf(
      await searchEach({ ...given, rows: given.rows.slice(0, maxSearches) }, template, within),
    );
  },
});

/** The search and its context. */
function resolveSearch(
  searched: MappedSearch,
  context: SearchContext,
): { template: string; within: SearchContext } {
  if (searched.kind === "search") return { template: searched.text, within: context };
  const saved = context.knowledge.savedSearch(searched.name);
  if (saved === undefined) {
    throw new SplError(`Error in 'map': Unable to find saved search '${searched.name}'.`, "run");
  }
  const { nowMs, timeZone, range } = context;
  const moment = (given: string | undefined) =>
    given === undefined ? undefined : resolveTime(given, { nowMs, timeZone });
  const hasRange = saved.earliest !== undefined || saved.latest !== undefined;
  const own = { earliestMs: moment(saved.earliest), latestMs: moment(saved.latest) };
  return { template: saved.search, within: context.within(hasRange ? own : range) };
}

async function searchEach({ fields, rows }: Rows, template: string, context: SearchContext): Promise<Rows> {
  const { maxResultRows } = context.limits;
  const results: Rows[] = [];
  let left = maxResultRows;
  for (const [index, row] of rows.entries()) {
    if (left === 0) break;
    const values = new Map(fields.map(({ name }, column) => [name, row[column] ?? null]));
    values.set("_serial_id", index + 1);
    const relation: Relation = await compilePipeline(context.parse(substitute(template, values)), context);
    const found = await context.run(relation, left);
    left -= found.rows.length;
    results.push(found);
  }
  return concatRows(results);
}

const variable = /\$([^\s$|"'=,()[\]]+)\$/y;

/** Replaces `$name$` by the row's value, escaped within quotes. */
function substitute(template: string, values: ReadonlyMap<string, ResultValue>): string {
  let text = "";
  let quoted = false;
  for (let at = 0; at < template.length; ) {
    variable.lastIndex = at;
    const [whole, name] = variable.exec(template) ?? [];
    if (whole !== undefined && name !== undefined) {
      const value = requireValue(values, name);
      text += quoted ? escapeQuotes(value) : value;
      at += whole.length;
      continue;
    }
    const length = template[at] === "\\" ? 2 : 1;
    if (template[at] === '"') quoted = !quoted;
    text += template.slice(at, at + length);
    at += length;
  }
  return text;
}

function requireValue(values: ReadonlyMap<string, ResultValue>, name: string): string {
  const value = values.get(name) ?? null;
  if (value === null) {
    throw new SplError(`Error in 'map': Did not find value for required attribute '${name}'.`, "run");
  }
  return Array.isArray(value) ? value.map(String).join(" ") : String(value);
}
