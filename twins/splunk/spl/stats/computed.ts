/** `eval(…)` over aggregates, as `chart` and `timechart` take it: `eval(round(avg(cpu), 2))`. */

import type { SearchContext } from "../context/search-context.ts";
import { compile } from "../eval/compile.ts";
import { roundToPrecision } from "../eval/precision.ts";
import { Scope } from "../eval/scope.ts";
import type { Value } from "../eval/value.ts";
import type { Relation } from "../relation/relation.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall, Expression } from "../syntax/ast.ts";
import {
  type Aggregation,
  type Computed,
  type Measure,
  type ResolveOptions,
  resolveMeasure,
} from "./aggregation.ts";
import { findStatsFunction } from "./functions/registry.ts";

/** Whether the call is an expression over aggregates. */
export function isComputed(call: AggregateCall): boolean {
  return call.name === "eval" && call.argument.kind === "expression";
}

/** Resolves aggregates and expressions over them. @throws SplError */
export async function resolveColumns(
  calls: readonly AggregateCall[],
  input: Relation,
  context: SearchContext,
  options: ResolveOptions,
): Promise<Aggregation[]> {
  const found: Aggregation[] = [];
  for (const call of calls) {
    if (isComputed(call)) found.push(await resolveComputed(call, input, context, options));
    else found.push(...(await resolveMeasure(call, input, context, options)));
  }
  return found;
}

async function resolveComputed(
  call: AggregateCall,
  input: Relation,
  context: SearchContext,
  options: ResolveOptions,
): Promise<Computed> {
  const { argument } = call;
  if (argument.kind !== "expression")
    throw commandError(options.command, `The argument '${call.text}' is invalid.`, "run");
  const calls: AggregateCall[] = [];
  const expression = replaceAggregates(argument.expression, (aggregate) => {
    calls.push(aggregate);
    return measureName(calls.length - 1);
  });
  const measures: Measure[] = [];
  for (const inner of calls) {
    const [measure] = await resolveMeasure(inner, input, context, options);
    if (measure === undefined) {
      throw commandError(options.command, `The argument '${call.text}' is invalid.`, "run");
    }
    measures.push(measure);
  }
  // Fields of single rows have no value in a group.
  const noFields: Relation = { ...input, columns: [] };
  return {
    kind: "computed",
    name: call.as ?? call.text.trim(),
    measures,
    async compile(values) {
      const names = new Map(
        values.map((value, index): [string, Value] => [
          measureName(index),
          { ...value, loose: value.type === "text" },
        ]),
      );
      return roundToPrecision(
        await compile(expression, new Scope(noFields, context, `'${options.command}' command`, names)),
      );
    },
  };
}

function measureName(index: number): string {
  return `#measure${index}`;
}

/** Replaces each aggregate in an expression by a field. @param placeholder names that field */
function replaceAggregates(expression: Expression, placeholder: (call: AggregateCall) => string): Expression {
  const inner = (one: Expression) => replaceAggregates(one, placeholder);
  const { start, end } = expression;
  switch (expression.node) {
    case "call": {
      const aggregate = aggregateOf(expression);
      if (aggregate !== undefined) return { node: "field", name: placeholder(aggregate), start, end };
      return { ...expression, args: expression.args.map(inner) };
    }
    case "field":
      if (expression.name === "count" || expression.name === "c") {
        const call: AggregateCall = {
          name: "count",
          argument: { kind: "none" },
          as: undefined,
          text: expression.name,
        };
        return { node: "field", name: placeholder(call), start, end };
      }
      return expression;
    case "unary":
      return { ...expression, operand: inner(expression.operand) };
    case "binary":
      return { ...expression, left: inner(expression.left), right: inner(expression.right) };
    case "in":
      return { ...expression, operand: inner(expression.operand), values: expression.values.map(inner) };
    default:
      return expression;
  }
}

function aggregateOf({ name, args }: Extract<Expression, { node: "call" }>): AggregateCall | undefined {
  if (findStatsFunction(name) === undefined || args.length > 1) return undefined;
  const [argument] = args;
  const call = { name, as: undefined, text: name };
  if (argument === undefined) return { ...call, argument: { kind: "none" } };
  if (argument.node === "field") return { ...call, argument: { kind: "field", name: argument.name } };
  const [evaluated] = argument.node === "call" && argument.name === "eval" ? argument.args : [argument];
  return evaluated === undefined
    ? undefined
    : { ...call, argument: { kind: "expression", expression: evaluated, text: name } };
}
