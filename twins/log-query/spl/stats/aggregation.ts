/** What `stats` and its like are asked for, once it is known which fields there are. */

import { raw, sql } from "../../../datasets/sql.ts";
import { compileExpression } from "../eval/compile-expression.ts";
import { columnOf, fieldValue, type Relation } from "../relation.ts";
import type { SearchContext } from "../search-context.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import { nullValue, type Typed } from "../typed.ts";
import { type FoundFunction, findStatsFunction } from "./functions/registry.ts";
import { sparklineOf } from "./functions/sparkline.ts";
import type { Site } from "./site.ts";
import { valuesOf } from "./values.ts";

/** One column of the answer. */
export interface Aggregation {
  /** Of the column. */
  readonly name: string;
  readonly call: AggregateCall;
  readonly found: FoundFunction;
  /** What it looks at; of `count` without a field, every row. */
  readonly value: Typed;
  /** Of `sparkline(…)`. */
  readonly inner: Aggregation | undefined;
}

/** Whether the calls can be: known functions, wildcards that fit. @throws SplError of phase `dispatch` */
export function checkAggregates(calls: readonly AggregateCall[], command: string): void {
  for (const call of calls) {
    if (findStatsFunction(call.name) === undefined) {
      throw commandError(command, `The argument '${call.text}' is invalid.`);
    }
    if (call.argument.kind === "sparkline") checkAggregates([call.argument.aggregate], command);
    const pattern = patternOf(call);
    if (call.as === undefined) continue;
    if (stars(pattern) !== stars(call.as) && (stars(call.as) > 0 || stars(pattern) > 0)) {
      throw commandError(
        command,
        `The number of wildcards between field specifier '${pattern}' and rename specifier '${call.as}' do not match. Note: empty field specifiers implies all fields, e.g. sum() == sum(*).`,
      );
    }
  }
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
): Promise<Aggregation[]> {
  const found: Aggregation[] = [];
  for (const call of calls) found.push(...(await resolveOne(call, input, context, options)));
  const byName = new Map(found.map((aggregation) => [aggregation.name, aggregation]));
  for (const field of options.by) {
    if (!byName.has(field)) continue;
    throw commandError(
      options.command,
      `The output field '${field}' cannot have the same name as a group-by field.`,
      "run",
    );
  }
  return [...byName.values()];
}

/** The SQL of a column. */
export function compileAggregation({ found, value, call, inner }: Aggregation, site: Site): Typed {
  const { declared, parameter } = found;
  if (inner !== undefined) return sparklineOf(inner, call, site);
  const values = valuesOf(value, site);
  const result = declared.compile(values, { site, parameter });
  if (!site.onlyNumbers || !declared.numeric || values.type === "number") return result;
  return { ...result, sql: sql`CASE WHEN ${values.others} = 0 THEN ${result.sql} END` };
}

async function resolveOne(
  call: AggregateCall,
  input: Relation,
  context: SearchContext,
  options: ResolveOptions,
): Promise<Aggregation[]> {
  const found = findStatsFunction(call.name);
  if (found === undefined) {
    throw commandError(options.command, `The argument '${call.text}' is invalid.`, "run");
  }
  const { argument } = call;
  const written = call.text.split("(", 1)[0]?.trim() ?? call.name;
  const one = (name: string, value: Typed, inner?: Aggregation): Aggregation => ({
    name: call.as ?? name,
    call,
    found,
    value,
    inner,
  });
  if (argument.kind === "sparkline") {
    const [inner] = await resolveOne(argument.aggregate, input, context, options);
    return [one(call.text, everyRow, inner)];
  }
  if (argument.kind === "expression") {
    const value = await compileExpression(
      argument.expression,
      input,
      context,
      `'${options.command}' command`,
    );
    return [one(call.text.trim(), value)];
  }
  if (isRowCount(call)) return [one(written, everyRow)];
  const pattern = patternOf(call);
  if (stars(pattern) === 0) {
    const column = columnOf(input, pattern);
    return [one(`${written}(${pattern})`, column === undefined ? nullValue : fieldValue(column))];
  }
  return wildcardFields(pattern, input, options.by).map(({ column, matched }) => ({
    ...one(`${written}(${column.name})`, fieldValue(column)),
    ...(call.as === undefined ? {} : { name: filled(call.as, matched) }),
  }));
}

const everyRow: Typed = { type: "number", multi: false, sql: raw("1") };

/** `count` alone; another function without a field is of all fields. */
function isRowCount({ name, argument }: AggregateCall): boolean {
  return argument.kind === "none" && (name === "count" || name === "c");
}

function patternOf(call: AggregateCall): string {
  if (call.argument.kind === "field") return call.argument.name;
  return call.argument.kind === "none" && !isRowCount(call) ? "*" : "";
}

function stars(text: string): number {
  return text.split("*").length - 1;
}

function wildcardFields(pattern: string, input: Relation, by: readonly string[]) {
  const escaped = pattern.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const expression = new RegExp(`^${escaped.join("(.*)")}$`, "s");
  return input.columns.flatMap((column) => {
    const hidden = column.name.startsWith("_") && !pattern.startsWith("_");
    const match = hidden || by.includes(column.name) ? null : expression.exec(column.name);
    return match === null ? [] : [{ column, matched: match.slice(1) }];
  });
}

function filled(template: string, matched: readonly string[]): string {
  return template
    .split("*")
    .map((part, index) => part + (matched[index] ?? ""))
    .join("");
}
