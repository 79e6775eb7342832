/**
 * `typeahead`: suggestions that complete a prefix.
 * Source: https://help.splunk.com/splunk-enterprise/spl-search-reference/9.4/search-commands/typeahead
 */

import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { segmentsSql } from "@offhook/log-store/text/segments";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { type Rows, relationOf } from "../relation/rows.ts";
import { textOf } from "../relation/typed.ts";
import { isLike } from "../relation/wildcards.ts";
import { escapeQuotes } from "../search/format-rows.ts";
import { eventsOfIndexes } from "../search/indexes.ts";
import { searchEvents } from "../search/search-rows.ts";
import { boolean, count, text } from "../syntax/option-types.ts";

/** Candidates, before filtering. */
const MAX_CANDIDATES = 10_000;
/** Fields whose names and values are suggested. */
const indexedFields = ["host", "index", "source", "sourcetype"];

interface Suggestion {
  content: string;
  count: number;
}

export const typeahead = defineCommand({
  name: "typeahead",
  kind: "generating",
  parse(reader) {
    // Options about time, servers and caches are accepted without effect: everything is scanned at once.
    const {
      prefix,
      count: maxSuggestions,
      ...options
    } = reader.options({
      prefix: text,
      count,
      index: text,
      collapse: boolean,
      starttimeu: count,
      endtimeu: count,
      banned_segments: text,
      max_time: count,
      max_servers: count,
      use_cache: boolean,
    });
    if (prefix === undefined) return reader.fail("Missing the option 'prefix'.");
    if (maxSuggestions === undefined) return reader.fail("Count is a required argument.");
    const { index, collapse = true, starttimeu, endtimeu, banned_segments: banned = "" } = options;
    const indexes = index === undefined ? [] : [index];
    const range = { earliestMs: milliseconds(starttimeu), latestMs: milliseconds(endtimeu) };
    return {
      prefix,
      maxSuggestions,
      indexes,
      collapse,
      range,
      banned: banned.split(";").filter((one) => one !== ""),
    };
  },
  async compile({ prefix, maxSuggestions, indexes, collapse, range, banned }, _, context) {
    const isLimited = range.earliestMs !== undefined || range.latestMs !== undefined;
    const events = await searchEvents(eventsOfIndexes(indexes), isLimited ? context.within(range) : context);
    const begun = /(?<!\S)\S*$/.exec(prefix.trimStart())?.[0] ?? "";
    const found = [
      ...(await fieldSuggestions(begun, events, context)),
      ...(await textTerms(begun, events, context)),
    ];
    const allowed = found.filter(({ content }) => !banned.some((pattern) => isLike(content, pattern)));
    const remaining = collapse ? collapsePrefixes(allowed) : allowed;
    return relationOf(
      suggestionRows(remaining.slice(0, maxSuggestions === 0 ? MAX_CANDIDATES : maxSuggestions)),
    );
  },
});

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** `sourcetype="access"` for `sou`, `sourcetype=` and `sourcetype=acc`. */
async function fieldSuggestions(
  begun: string,
  events: Relation,
  context: SearchContext,
): Promise<Suggestion[]> {
  const [name = "", value] = begun.split(/=(.*)/s);
  const names = value === undefined ? indexedFields.filter((field) => field.startsWith(name)) : [name];
  const suggestions: Suggestion[] = [];
  for (const field of names) {
    const column = columnOf(events, field);
    if (column === undefined) continue;
    const typed = fieldValue(column);
    const values = typed.multi ? sql`unnest(${textOf(typed)})` : textOf(typed);
    const all = sql`SELECT ${values} AS content FROM (${events.select}) AS r`;
    const begins = startsWith(sql`lower(content)`, (value ?? "").replace(/^"/, ""));
    const found = await countContents(
      sql`SELECT content, count(*) AS total FROM (${all}) WHERE ${begins} GROUP BY 1`,
      context,
    );
    suggestions.push(...found.map((one) => ({ ...one, content: `${field}="${escapeQuotes(one.content)}"` })));
  }
  return suggestions;
}

/** Suggests segments of the events' texts. */
async function textTerms(begun: string, events: Relation, context: SearchContext): Promise<Suggestion[]> {
  const word = begun.toLowerCase().replace(/^"/, "");
  const text = columnOf(events, "_raw");
  if (word === "" || text === undefined || begun.includes("=")) return [];
  const raws = textOf(fieldValue(text));
  const holding = sql`SELECT ${segmentsSql(raws)} AS terms FROM (${events.select}) AS r WHERE contains(lower(${raws}), ${word})`;
  const each = sql`SELECT unnest(list_distinct(terms)) AS content FROM (${holding})`;
  return countContents(
    sql`SELECT content, count(*) AS total FROM (${each}) WHERE ${startsWith(raw("content"), word)} GROUP BY 1`,
    context,
  );
}

function startsWith(content: Sql, text: string): Sql {
  return sql`starts_with(${content}, lower(${text}))`;
}

/** Fetches counted contents, most frequent first. */
async function countContents(select: Sql, context: SearchContext): Promise<Suggestion[]> {
  const relation: Relation = {
    select: sql`SELECT content, total, -total AS "#order0", content AS "#order1" FROM (${select})`,
    columns: [
      { name: "content", column: "content", type: "text", multi: false },
      { name: "total", column: "total", type: "number", multi: false },
    ],
    order: [
      { column: "#order0", direction: "ASC" },
      { column: "#order1", direction: "ASC" },
    ],
    kind: "report",
  };
  const { rows } = await context.run(relation, MAX_CANDIDATES);
  return rows.map(([content, total]) => ({ content: String(content), count: Number(total) }));
}

/** Drops suggestions that are a prefix of another one with the same count. */
function collapsePrefixes(suggestions: readonly Suggestion[]): Suggestion[] {
  const byCount = new Map<number, string[]>();
  for (const { content, count: times } of suggestions) {
    const alike = byCount.get(times);
    if (alike === undefined) byCount.set(times, [content]);
    else alike.push(content);
  }
  const covered = new Set<string>();
  for (const contents of byCount.values()) {
    contents.sort();
    // After sorting, a text is directly followed by those it is a prefix of.
    contents.forEach((content, index) => {
      if (contents[index + 1]?.startsWith(content)) covered.add(content);
    });
  }
  return suggestions.filter(({ content }) => !covered.has(content));
}

function suggestionRows(suggestions: readonly Suggestion[]): Rows {
  return {
    fields: [
      { name: "content", type: "text", multi: false },
      { name: "count", type: "number", multi: false },
      { name: "operator", type: "text", multi: false },
    ],
    // splunkd flags only `index=` suggestions as operators.
    rows: suggestions.map(({ content, count: times }) => [
      content,
      times,
      String(content.startsWith('index="')),
    ]),
  };
}
