/** Aggregates of `stats` and its like, resolved against the fields of their input. */
import { raw, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { compileExpression } from "../eval/compile-expression.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { nullValue, type Typed } from "../relation/typed.ts";
import { countWildcards, fillWildcards, wildcardMatch } from "../relation/wildcards.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import type { FoundFunction } from "./functions/declaration.ts";
import { findStatsFunction } from "./functions/registry.ts";
import { sparklineOf } from "./functions/sparkline.ts";
import type { Site } from "./site.ts";
import { valuesOf } from "./values.ts";

/** An output column. */
export type Aggregation = Measure | Computed;

/** An aggregate function over the rows. */
export interface Measure {
  readonly kind: "measure";
  /** Name of the output column. */
  readonly name: string;
  readonly call: AggregateCall;
  readonly found: FoundFunction;
  /** The argument; for `count` without a field, a constant that every row has. */
  readonly value: Typed;
  /** The aggregate inside `sparkline(…)`. */
  readonly inner: Measure | undefined;
}

/** An expression over several aggregates: `eval(sum(a) / count)`. */
export interface Computed {
  readonly kind: "computed";
  readonly name: string;
  readonly measures: readonly Measure[];
  /** @param values of the measures */
  compile(values: readonly Typed[]): Promise<Typed>;
}

export interface ResolveOptions {
  command: string;
  /** The BY fields: wildcards skip them. */
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
  return uniqueByName(found, options);
}

/** Keeps the last column of each name. @throws SplError when one has the name of a BY field */
export function uniqueByName<Column extends Aggregation>(
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

/** Resolves a call: one measure, or one for each field that its wildcards match. @throws SplError */
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
  if (countWildcards(pattern) === 0) {
    const column = columnOf(input, pattern);
    return [one(`${written}(${pattern})`, column === undefined ? nullValue : fieldValue(column))];
  }
  return wildcardFields(pattern, input, by).map(({ column, matched }) => ({
    ...one(`${written}(${column.name})`, fieldValue(column)),
    ...(call.as === undefined ? {} : { name: fillWildcards(call.as, matched) }),
  }));
}

const everyRow: Typed = { type: "number", multi: false, sql: raw("1") };

/** Whether the call counts rows. Other functions without a field apply to all fields. */
function countsRows({ name, argument }: AggregateCall): boolean {
  return argument.kind === "none" && (name === "count" || name === "c" || name === "sparkline");
}

/** The field, which may have wildcards; empty when there is none. */
export function patternOf(call: AggregateCall): string {
  if (call.argument.kind === "field") return call.argument.name;
  return call.argument.kind === "none" && !countsRows(call) ? "*" : "";
}

function wildcardFields(pattern: string, input: Relation, by: readonly string[]) {
  return input.columns.flatMap((column) => {
    const matched = by.includes(column.name) ? undefined : wildcardMatch(pattern, column.name);
    return matched === undefined ? [] : [{ column, matched }];
  });
}
