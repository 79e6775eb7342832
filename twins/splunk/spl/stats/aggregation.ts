/** What `stats` and its like are asked for, once it is known which fields there are. */
import { raw, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { compileExpression } from "../eval/compile-expression.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { nullValue, type Typed } from "../relation/typed.ts";
import { wildcardMatch } from "../relation/wildcards.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import { type FoundFunction, findStatsFunction } from "./functions/registry.ts";
import { sparklineOf } from "./functions/sparkline.ts";
import type { Site } from "./site.ts";
import { valuesOf } from "./values.ts";

/** One column of the answer. */
export type Aggregation = Measure | Computed;

/** A function of the rows. */
export interface Measure {
  readonly kind: "measure";
  /** Of the column. */
  readonly name: string;
  readonly call: AggregateCall;
  readonly found: FoundFunction;
  /** What it looks at; of `count` without a field, every row. */
  readonly value: Typed;
  /** Of `sparkline(…)`. */
  readonly inner: Measure | undefined;
}

/** An expression of several: `eval(sum(a) / count)`. */
export interface Computed {
  readonly kind: "computed";
  readonly name: string;
  readonly measures: readonly Measure[];
  /** @param values of the measures */
  compile(values: readonly Typed[]): Promise<Typed>;
}

export interface ResolveOptions {
  command: string;
  /** Fields that wildcards do not mean. */
  by: readonly string[];
}

/** @throws SplError */
export async function resolveAggregates(
  calls: readonly AggregateCall[],
  input: Relation,
  context: SearchContext,
  options: ResolveOptions,
): Promise<Measure[]> {
  const found: Measure[] = [];
  for (const call of calls) found.push(...(await resolveMeasure(call, input, context, options)));
  return distinct(found, options);
}

/** One column for each name; none may be that of a group. @throws SplError */
export function distinct<Column extends Aggregation>(
  found: readonly Column[],
  { by, command }: ResolveOptions,
): Column[] {
  const byName = new Map(found.map((aggregation) => [aggregation.name, aggregation]));
  for (const field of by) {
    if (!byName.has(field)) continue;
    throw commandError(
      command,
      `The output field '${field}' cannot have the same name as a group-by field.`,
      "run",
    );
  }
  return [...byName.values()];
}

/** The SQL of a column. */
export async function compileAggregation(aggregation: Aggregation, site: Site): Promise<Typed> {
  if (aggregation.kind === "measure") return compileMeasure(aggregation, site);
  return aggregation.compile(aggregation.measures.map((measure) => compileMeasure(measure, site)));
}

function compileMeasure({ found, value, call, inner }: Measure, site: Site): Typed {
  const { declared, parameter } = found;
  if (inner !== undefined) return sparklineOf(inner, call, site);
  const values = valuesOf(value, site);
  const result = declared.compile(values, { site, parameter });
  if (!site.onlyNumbers || !declared.numeric || values.type === "number") return result;
  return { ...result, sql: sql`CASE WHEN ${values.others} = 0 THEN ${result.sql} END` };
}

/** A call with wildcards is of several fields. @throws SplError */
export async function resolveMeasure(
  call: AggregateCall,
  input: Relation,
  context: SearchContext,
  { command, by }: ResolveOptions,
): Promise<Measure[]> {
  const found = findStatsFunction(call.name);
  if (found === undefined) throw commandError(command, `The argument '${call.text}' is invalid.`, "run");
  const { argument } = call;
  const written = call.text.split("(", 1)[0]?.trim() ?? call.name;
  const one = (name: string, value: Typed, inner?: Measure): Measure => ({
    kind: "measure",
    name: call.as ?? name,
    call,
    found,
    value,
    inner,
  });
  if (argument.kind === "sparkline") {
    const [inner] = await resolveMeasure(argument.aggregate, input, context, { command, by });
    return [one(call.text, everyRow, inner)];
  }
  if (argument.kind === "expression") {
    const value = await compileExpression(argument.expression, input, context, `'${command}' command`);
    return [one(call.text.trim(), value)];
  }
  if (countsRows(call)) return [one(written, everyRow)];
  const pattern = patternOf(call);
  if (stars(pattern) === 0) {
    const column = columnOf(input, pattern);
    return [one(`${written}(${pattern})`, column === undefined ? nullValue : fieldValue(column))];
  }
  return wildcardFields(pattern, input, by).map(({ column, matched }) => ({
    ...one(`${written}(${column.name})`, fieldValue(column)),
    ...(call.as === undefined ? {} : { name: filled(call.as, matched) }),
  }));
}

const everyRow: Typed = { type: "number", multi: false, sql: raw("1") };

/** `count` alone; another function without a field is of all fields. */
export function countsRows({ name, argument }: AggregateCall): boolean {
  return argument.kind === "none" && (name === "count" || name === "c" || name === "sparkline");
}

/** The field, which can have wildcards; empty where there is none. */
export function patternOf(call: AggregateCall): string {
  if (call.argument.kind === "field") return call.argument.name;
  return call.argument.kind === "none" && !countsRows(call) ? "*" : "";
}

export function stars(text: string): number {
  return text.split("*").length - 1;
}

function wildcardFields(pattern: string, input: Relation, by: readonly string[]) {
  return input.columns.flatMap((column) => {
    const matched = by.includes(column.name) ? undefined : wildcardMatch(pattern, column.name);
    return matched === undefined ? [] : [{ column, matched }];
  });
}

function filled(template: string, matched: readonly string[]): string {
  return template
    .split("*")
    .map((part, index) => part + (matched[index] ?? ""))
    .join("");
}
