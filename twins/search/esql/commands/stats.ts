/** STATS: groups, and what is computed of each. */
import type { Sql } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import { compileAggregate, compileGrouping } from "../functions/call.ts";
import type { AggregateFunction } from "../functions/declaration.ts";
import { findFunction } from "../functions/registry.ts";
import type { Column } from "../pipeline.ts";
import type { Command, Expression, NamedExpression } from "../syntax.ts";
import { children } from "../syntax-walk.ts";
import { type Typed, unknownTyped } from "../typed.ts";
import { assign } from "./eval.ts";

type StatsCommand = Extract<Command, { kind: "stats" }>;
interface Group {
  column: Column;
  /** What it was made of, as written: an expression of the same text means the group. */
  text: string;
}

export function compileStats(compiler: Compiler, { aggregates, groups }: StatsCommand): void {
  const { pipeline } = compiler;
  const grouped = groups.map((group) => compileGroup(compiler, group));
  const list: { ref: string; source: Sql }[] = [];
  const groupRefs = new Set(grouped.map(({ column }) => column.ref));
  for (const { expression } of aggregates) collect(compiler, expression, grouped, list);
  const columns = lastOfEachName(grouped.map(({ column }) => column));
  const selected = [...groupRefs].map((ref) => ({ ref, source: pipeline.use(ref) }));
  pipeline.group(columns, [...selected, ...list], [...groupRefs]);
  for (const { name, expression } of aggregates) assign(compiler, name, compiler.expression(expression));
  const made = pipeline.columns.filter((column) => !columns.includes(column));
  pipeline.columns = [...made, ...columns.filter(({ name }) => !made.some((column) => column.name === name))];
}

function lastOfEachName(columns: readonly Column[]): Column[] {
  return [...new Map(columns.map((column) => [column.name, column])).values()];
}

function compileGroup(compiler: Compiler, { name, expression }: NamedExpression): Group {
  const { pipeline } = compiler;
  const grouping = expression.kind === "call" ? compileGrouping(compiler, expression) : undefined;
  const value = compiler.valueOf(grouping ?? compiler.expression(expression));
  if (value.type === "source")
    compiler.problems.mismatch(expression.at, "cannot group by on [_source] type for grouping [_source]");
  const ref = value.multi ? pipeline.expand(value.sql) : pipeline.place(value.sql);
  return { column: { name, type: value.type, multi: false, ref }, text: compiler.text(expression.at) };
}

/** Compiles the aggregates of an expression, and says what stands for them and for groups behind STATS. */
function collect(
  compiler: Compiler,
  node: Expression,
  groups: readonly Group[],
  list: { ref: string; source: Sql }[],
  root = node,
): void {
  const group = groups.find(
    ({ text, column }) =>
      text === compiler.text(node.at) || (node.kind === "column" && node.name === column.name),
  );
  if (group) {
    compiler.resolve(node, groupTyped(compiler, group, node));
    return;
  }
  const aggregate = aggregateOf(node);
  if (aggregate) {
    compiler.resolve(node, compileOne(compiler, aggregate, list));
    return;
  }
  if (node.kind === "column") {
    const known = compiler.find(node.name);
    if (!known) compiler.column(node.name, node.at);
    else if (root === node) {
      compiler.problems.mismatch(
        node.at,
        `expected an aggregate function but found [${compiler.text(node.at)}]`,
      );
    } else {
      compiler.problems.mismatch(
        node.at,
        `column [${node.name}] must appear in the STATS BY clause or be used in an aggregate function`,
      );
    }
    compiler.resolve(node, unknownTyped(node.at));
    return;
  }
  for (const child of children(node)) collect(compiler, child, groups, list, root);
}

function groupTyped(compiler: Compiler, { column }: Group, node: Expression): Typed {
  return compiler.read(column, node.at);
}

interface AggregateCall {
  node: Extract<Expression, { kind: "call" }>;
  declaration: AggregateFunction;
}

function aggregateOf(node: Expression): AggregateCall | undefined {
  if (node.kind !== "call") return undefined;
  const declaration = findFunction(node.name);
  return declaration?.kind === "aggregate" ? { node, declaration } : undefined;
}

function compileOne(
  compiler: Compiler,
  { node, declaration }: AggregateCall,
  list: { ref: string; source: Sql }[],
): Typed {
  const nested = node.args.flatMap((argument) => innerAggregate(argument) ?? [])[0];
  if (nested) {
    compiler.problems.mismatch(
      nested.at,
      `nested aggregations [${compiler.text(nested.at)}] not allowed inside other aggregations [${compiler.text(node.at)}]`,
    );
    return unknownTyped(node.at);
  }
  const compiled = compileAggregate(compiler, node, declaration);
  if (!compiled) return unknownTyped(node.at);
  const ref = compiler.pipeline.freshRef();
  list.push({ ref, source: compiled.sql });
  return { ...compiled.typed, sql: compiler.pipeline.use(ref) };
}

function innerAggregate(node: Expression): Expression | undefined {
  if (aggregateOf(node)) return node;
  for (const child of children(node)) {
    const found = innerAggregate(child);
    if (found) return found;
  }
  return undefined;
}
