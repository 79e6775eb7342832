/** `tstats`: aggregates over indexed fields or a data model. */

import { sql } from "@offhook/log-store/sql";
import { MAJOR_BREAKERS } from "@offhook/log-store/text/segments";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { bindOnce, type Typed, textOf } from "../relation/typed.ts";
import { concat } from "../relation/union.ts";
import { timeModifiers } from "../search/resolve-search.ts";
import { searchEvents, searchRows } from "../search/search-rows.ts";
import { escapeRegex } from "../search/term-pattern.ts";
import { timesOf } from "../search/time-modifiers.ts";
import { dataModelRelation } from "../sources/data-model.ts";
import { resolveAggregates } from "../stats/aggregation.ts";
import { binField } from "../stats/bin-options.ts";
import { checkAggregates } from "../stats/check-aggregates.ts";
import { groupRows, groupsOf, orderByGroups, unnestGroups } from "../stats/group.ts";
import { checkPrestats, prestatsRows } from "../stats/prestats.ts";
import { groupSite } from "../stats/site.ts";
import { siteOptions } from "../stats/site-options.ts";
import { type Span, span } from "../stats/span.ts";
import { readAggregates } from "../syntax/aggregates.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import type { AggregateCall, SearchExpression } from "../syntax/ast.ts";
import { boolean, count, text } from "../syntax/option-types.ts";

const optionTypes = {
  ...{ prestats: boolean, local: boolean, append: boolean, summariesonly: boolean, chunk_size: count },
  ...{ include_reduced_buckets: boolean, allow_old_summaries: boolean, use_summary_index_values: boolean },
  fillnull_value: text,
};

const groupOptionTypes = { ...optionTypes, span };

interface Arguments {
  calls: AggregateCall[];
  /** `Model.Object`, or `Model` for its root. */
  dataModel: string | undefined;
  where: SearchExpression;
  by: string[];
  /** Arguments of `PREFIX(kb=)`: prefixes of segments. The field with the remainders has the same name. */
  prefixes: string[];
  span: Span | "auto" | undefined;
  /** Stands for a missing BY field. */
  fill: string | undefined;
  /** Whether to return partial results that another command aggregates. */
  prestats: boolean;
  append: boolean;
}

export const tstats = defineCommand<Arguments>({
  name: "tstats",
  kind: "generating",
  kindOf: ({ append }) => (append ? "report" : "generating"),
  parse(reader) {
    const { options, calls: written } = readHead(reader);
    const prefixes = new Set<string>();
    const fieldOf = (name: string) => {
      const prefix = readPrefix(reader, name);
      if (prefix !== undefined) prefixes.add(prefix);
      return prefix ?? name;
    };
    const calls = written.map((call) => renameArgument(call, fieldOf));
    if (calls.length === 0) reader.fail("You must specify at least one aggregation.");
    checkAggregates(calls, "tstats");
    const { dataModel, node } = readFrom(reader);
    const condition: SearchExpression = reader.keyword("where")
      ? reader.searchExpression(["by", "groupby"])
      : { node: "all" };
    const { where, nodeName } = takeNodeName(condition);
    const { by: groups, options: later } = readGroups(reader);
    const by = groups.map(fieldOf);
    const all = { ...options, ...later };
    const { prestats = false, append = false, fillnull_value: fill, span: given } = all;
    if (append && !prestats) reader.fail("append=true is valid with prestats=true only.");
    if (prestats) checkPrestats(calls, by, "tstats");
    return {
      ...{ calls, where, prestats, append, fill, by, prefixes: [...prefixes], span: given },
      dataModel: objectOf(dataModel, nodeName ?? node),
    };
  },
  async compile(args, input, context) {
    const rows = await aggregateRows(args, context);
    return args.append ? concat(input, rows) : rows;
  },
});

async function aggregateRows(args: Arguments, context: SearchContext): Promise<Relation> {
  const { calls, by, prefixes, span: given, fill, prestats } = args;
  const found = addSegments(await matchingRows(args, context), prefixes);
  const input = fillMissing(await binTime(found, by, given, context), by, fill);
  const rows = unnestGroups(input, groupsOf(by, input), { distinctValues: false });
  const { range } = found;
  const within = range === undefined ? {} : { range };
  if (prestats) {
    const site = groupSite(await siteOptions(rows.input, context, []));
    return { ...(await prestatsRows(rows.input, rows.groups, calls, site)), ...within };
  }
  const aggregations = await resolveAggregates(calls, input, context, { command: "tstats", by });
  const site = groupSite(await siteOptions(rows.input, context, aggregations));
  return { ...orderByGroups(await groupRows(rows.input, rows.groups, aggregations, site)), ...within };
}

async function matchingRows(
  { dataModel, where, calls, by }: Pick<Arguments, "dataModel" | "where" | "calls" | "by">,
  context: SearchContext,
): Promise<Relation> {
  if (dataModel === undefined) return searchEvents(where, context);
  const { events } = timesOf(timeModifiers(where), context);
  const within = context.within(events ?? context.range);
  const rows = await dataModelRelation("tstats", dataModel, within);
  const objects = context.knowledge.dataModel(dataModel.split(".")[0] ?? "").map(({ object }) => object);
  const names = [...fieldsOf(where), ...by, ...calls.flatMap(argumentFields)];
  return searchRows(where, addObjectNames(rows, names, objects), context);
}

/** The argument of `PREFIX(…)`; `undefined` for a plain field. */
function readPrefix(reader: ArgumentReader, name: string): string | undefined {
  const [, written] = /^PREFIX\((.*)\)$/is.exec(name) ?? [];
  if (written === undefined) return undefined;
  const prefix = written.trim().replace(/^"(.*)"$/s, "$1");
  if (prefix === "" || majorBreaker.test(prefix)) {
    reader.fail(
      `The argument of PREFIX() must be what a segment begins with, without major breakers: '${written}'.`,
    );
  }
  return prefix;
}

const majorBreaker = new RegExp(`[${MAJOR_BREAKERS}]`);

/** Replaces the field of a call by `fieldOf` of it. */
function renameArgument(call: AggregateCall, fieldOf: (name: string) => string): AggregateCall {
  const { argument, name } = call;
  if (argument.kind === "sparkline") {
    return { ...call, argument: { ...argument, aggregate: renameArgument(argument.aggregate, fieldOf) } };
  }
  if (argument.kind !== "field") return call;
  const field = fieldOf(argument.name);
  if (field === argument.name) return call;
  return { ...call, argument: { ...argument, name: field }, text: `${name}(${field})` };
}

/**
 * Adds a field for each prefix: the remainders of the segments with that prefix, in lower case, as the index splits at major breakers.
 * Source: https://help.splunk.com/splunk-enterprise/spl-search-reference/9.4/search-commands/tstats
 */
function addSegments(rows: Relation, prefixes: readonly string[]): Relation {
  const raw = columnOf(rows, "_raw");
  if (raw === undefined || prefixes.length === 0) return rows;
  const text = textOf(fieldValue(raw));
  const segments = prefixes.map((prefix): [string, Typed] => {
    const pattern = `(?:^|[${MAJOR_BREAKERS}])${escapeRegex(prefix.toLowerCase())}([^${MAJOR_BREAKERS}]+)`;
    const found = sql`regexp_extract_all(lower(${text}), CAST(${pattern} AS VARCHAR), 1)`;
    return [
      prefix,
      {
        type: "text",
        multi: true,
        sql: bindOnce(found, (list) => sql`CASE WHEN len(${list}) > 0 THEN ${list} END`),
      },
    ];
  });
  return extend(rows, new Map(segments));
}

/** Adds the fields that a data model search names with their object: `Web.url`. */
function addObjectNames(rows: Relation, names: readonly string[], objects: readonly string[]): Relation {
  const added = names.flatMap((name): [string, Typed][] => {
    const object = objects.find((known) => name.startsWith(`${known}.`));
    if (object === undefined || rows.columns.some((column) => column.name === name)) return [];
    const wanted = name.slice(object.length + 1);
    const columns = wanted.includes("*") ? rows.columns : [columnOf(rows, wanted)];
    return columns.flatMap((column): [string, Typed][] =>
      column === undefined || column.name.startsWith("_")
        ? []
        : [[wanted.includes("*") ? `${object}.${column.name}` : name, fieldValue(column)]],
    );
  });
  return added.length === 0 ? rows : extend(rows, new Map(added));
}

async function binTime(
  rows: Relation,
  by: readonly string[],
  given: Span | "auto" | undefined,
  context: SearchContext,
): Promise<Relation> {
  if (!by.includes("_time")) return rows;
  const time = await binField("_time", given === undefined ? {} : { span: given }, rows, context, "tstats");
  return time === undefined ? rows : extend(rows, new Map([["_time", time]]));
}

function fillMissing(rows: Relation, by: readonly string[], fill: string | undefined): Relation {
  if (fill === undefined) return rows;
  const changes = by.map((name): [string, Typed] => {
    const column = columnOf(rows, name);
    if (column === undefined)
      return [name, { type: "text", multi: false, sql: sql`CAST(${fill} AS VARCHAR)` }];
    const value = fieldValue(column);
    const missing = value.multi ? sql`[CAST(${fill} AS VARCHAR)]` : sql`CAST(${fill} AS VARCHAR)`;
    return [name, { type: "text", multi: value.multi, sql: sql`coalesce(${textOf(value)}, ${missing})` }];
  });
  return extend(rows, new Map(changes.filter(([name]) => name !== "_time")));
}

/** Reads options and aggregates, in any order. */
function readHead(reader: ArgumentReader) {
  const options = reader.options(optionTypes);
  const calls: AggregateCall[] = [];
  for (;;) {
    const more = readAggregates(reader, ["from", "where", "by", "groupby"]);
    if (more.length === 0) return { options, calls };
    calls.push(...more);
    Object.assign(options, reader.options(optionTypes));
  }
}

function readFrom(reader: ArgumentReader): { dataModel: string | undefined; node: string | undefined } {
  if (!reader.keyword("from")) return { dataModel: undefined, node: undefined };
  if (!reader.keyword("datamodel")) {
    return reader.fail(
      `'${reader.peek().text}' after FROM is not served here: datamodel=<model>.<object> is.`,
    );
  }
  reader.symbol("=");
  const dataModel = reader.field("the name of a data model");
  return { dataModel, node: reader.options({ nodename: text }).nodename };
}

function readGroups(reader: ArgumentReader) {
  const by: string[] = [];
  const options = reader.options(groupOptionTypes);
  if (!reader.keyword("by", "groupby")) return { by, options };
  while (!reader.atEnd()) {
    const fields = reader.fields();
    const given = reader.options(groupOptionTypes);
    if (fields.length === 0 && Object.keys(given).length === 0) reader.end();
    by.push(...fields);
    Object.assign(options, given);
  }
  if (by.length === 0) reader.fail("The 'by' clause needs at least one field.");
  return { by, options };
}

/** Takes `nodename=Root.Child`, which selects the object, out of the conditions. */
function takeNodeName(where: SearchExpression): { where: SearchExpression; nodeName: string | undefined } {
  const operands = where.node === "and" ? where.operands : [where];
  const picks = operands.filter((operand) => operand.node === "comparison" && operand.field === "nodename");
  const [pick] = picks;
  if (pick?.node !== "comparison" || pick.comparator !== "=") return { where, nodeName: undefined };
  const others = operands.filter((operand) => !picks.includes(operand));
  const [only = { node: "all" as const }] = others;
  return { where: others.length > 1 ? { node: "and", operands: others } : only, nodeName: pick.value.text };
}

function objectOf(dataModel: string | undefined, nodeName: string | undefined): string | undefined {
  if (dataModel === undefined || nodeName === undefined) return dataModel;
  return `${dataModel.split(".")[0]}.${nodeName.split(".").at(-1)}`;
}

function argumentFields({ argument }: AggregateCall): string[] {
  if (argument.kind === "field") return [argument.name];
  return argument.kind === "sparkline" ? argumentFields(argument.aggregate) : [];
}

function fieldsOf(expression: SearchExpression): string[] {
  switch (expression.node) {
    case "and":
    case "or":
      return expression.operands.flatMap(fieldsOf);
    case "not":
      return fieldsOf(expression.operand);
    case "comparison":
    case "in":
      return [expression.field];
    default:
      return [];
  }
}
