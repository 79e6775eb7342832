/** STATS: groups and aggregates. */
import { type Sql, sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { type Span, verificationError } from "../errors.ts";
import { compileAggregate } from "../functions/call.ts";
import type { AggregateFunction, FunctionDeclaration } from "../functions/declaration.ts";
import { findFunction } from "../functions/registry.ts";
import type { Column } from "../pipeline.ts";
import type { Command, Expression, NamedExpression } from "../syntax.ts";
import { children, sameExpression } from "../syntax-walk.ts";
import { type Typed, unknownTyped } from "../typed.ts";
import { lastOfEachName } from "./eval.ts";

type StatsCommand = Extract<Command, { kind: "stats" }>;
interface Group extends NamedExpression {
  /** Its value in a row; may be several. */
  value: Column;
  /** Its value in a group. */
  column: Column;
}

/** The STATS command under compilation. */
interface Stats {
  groups: readonly Group[];
  /** The text after BY. */
  grouping: string;
  list: { ref: string; source: Sql }[];
}

export function compileStats(compiler: Compiler, { aggregates, groups }: StatsCommand): void {
  const { pipeline } = compiler;
  refuseGroups(compiler, aggregates, groups);
  const computed = compiler.withGroupingFunctions(() => groups.map((group) => compileGroup(compiler, group)));
  const grouped = lastOfEachName(computed).map((group) => withKey(compiler, group));
  const stats: Stats = { groups: grouped, grouping: textOf(compiler, groups), list: [] };
  const names = new Set(grouped.map(({ name }) => name));
  const others = pipeline.columns.filter(({ name }) => !names.has(name));
  pipeline.columns = [...others, ...grouped.map(({ value }) => value)];
  compiler.withGroupingFunctions(() => {
    for (const { expression } of aggregates) collect(compiler, expression, stats);
  });
  const keys = grouped.map(({ column }) => column);
  const refs = [...new Set(keys.map(({ ref }) => ref))];
  const selected = refs.map((ref) => ({ ref, source: pipeline.use(ref) }));
  pipeline.group(keys, [...selected, ...stats.list], refs);
  // A group wins over an aggregate of the same name.
  const made = lastOfEachName(aggregates).filter(({ name }) => !names.has(name));
  const columns = made.map(({ name, expression }): Column => {
    const value = compiler.valueOf(compiler.expression(expression));
    return { name, type: value.type, multi: value.multi, ref: pipeline.place(value.sql) };
  });
  pipeline.columns = [...columns, ...keys];
}

function textOf(compiler: Compiler, groups: readonly NamedExpression[]): string {
  const [first, last] = [groups[0], groups.at(-1)];
  return first && last ? compiler.text({ ...first.at, end: last.at.end }) : "";
}

/** @throws VendorError for an aggregate that is identical to a group, or shadows a column that a group reads */
function refuseGroups(
  compiler: Compiler,
  aggregates: readonly NamedExpression[],
  groups: readonly NamedExpression[],
): void {
  const names = new Set(groups.map(({ name }) => name));
  const read = new Set(groups.flatMap(({ expression }) => columnsOf(expression)));
  for (const { expression } of aggregates) {
    if (expression.kind === "call" || compiler.isFoldable(expression)) continue;
    const text = compiler.text(expression.at);
    if (names.has(text))
      refuse(expression.at, `grouping key [${text}] already specified in the STATS BY clause`);
    if (read.has(text)) refuse(expression.at, `Cannot specify grouping expression [${text}] as an aggregate`);
  }
}

function refuse(at: Span, message: string): never {
  throw verificationError([`line ${at.line}:${at.column}: ${message}`]);
}

function columnsOf(node: Expression): string[] {
  return node.kind === "column" ? [node.name] : children(node).flatMap(columnsOf);
}

function compileGroup(compiler: Compiler, group: NamedExpression): NamedExpression & { value: Column } {
  const { expression, name } = group;
  const { pipeline, problems } = compiler;
  const aggregate = firstCall(expression, "aggregate");
  if (aggregate)
    problems.mismatch(aggregate.at, `cannot use an aggregate [${compiler.text(aggregate.at)}] for grouping`);
  const outer = firstCall(expression, "grouping");
  const inner = outer && children(outer).flatMap((child) => firstCall(child, "grouping") ?? [])[0];
  if (outer && inner) {
    problems.mismatch(
      inner.at,
      `cannot nest grouping functions; found [${compiler.text(inner.at)}] inside [${compiler.text(outer.at)}]`,
    );
  }
  const value = aggregate ? unknownTyped(expression.at) : compiler.valueOf(compiler.expression(expression));
  if (value.type === "source")
    problems.mismatch(expression.at, "cannot group by on [_source] type for grouping [_source]");
  const { type, multi } = value;
  return { ...group, value: { name, type, multi, ref: pipeline.place(value.sql) } };
}

/** A row of several values is in the group of each value. */
function withKey(compiler: Compiler, group: NamedExpression & { value: Column }): Group {
  const { pipeline } = compiler;
  const { value } = group;
  const ref = value.multi
    ? pipeline.expand(sql`list_sort(list_distinct(${pipeline.use(value.ref)}))`)
    : value.ref;
  return { ...group, column: { ...value, multi: false, ref } };
}

/** The outermost call of a kind. */
function firstCall(node: Expression, kind: FunctionDeclaration["kind"]): Expression | undefined {
  if (node.kind === "call" && findFunction(node.name)?.kind === kind) return node;
  for (const child of children(node)) {
    const found = firstCall(child, kind);
    if (found) return found;
  }
  return undefined;
}

/**
 * Compiles the aggregates of an expression, and presets the values of aggregates and groups for the expression after
 * STATS.
 */
function collect(compiler: Compiler, node: Expression, stats: Stats, root = node): void {
  const { problems } = compiler;
  const aggregate = aggregateOf(node);
  if (aggregate) {
    compiler.resolve(node, compileOne(compiler, aggregate, stats.list));
    return;
  }
  const text = compiler.text(node.at);
  if (node.kind === "call" && findFunction(node.name)?.kind === "grouping") {
    const group = stats.groups.find(({ expression }) => sameExpression(expression, node));
    if (!group) {
      problems.mismatch(node.at, `can only use grouping function [${text}] part of the BY clause`);
    } else if (node === root) refuseNaked(compiler, node, "function");
    compiler.resolve(node, group ? compiler.read(group.column, node.at) : unknownTyped(node.at));
    return;
  }
  if (compiler.isFoldable(node)) {
    if (node === root) problems.mismatch(node.at, `expected an aggregate function but found [${text}]`);
    return;
  }
  if (node.kind === "column") {
    compiler.resolve(node, groupedColumn(compiler, node, stats, root));
    return;
  }
  for (const child of children(node)) collect(compiler, child, stats, root);
}

/** A column outside of an aggregate must be a group. */
function groupedColumn(
  compiler: Compiler,
  node: Extract<Expression, { kind: "column" }>,
  { groups, grouping }: Stats,
  root: Expression,
): Typed {
  const { problems } = compiler;
  const group = groups.find(({ name }) => name === node.name);
  if (group) {
    if (node === root) refuseNaked(compiler, node, "key");
    return compiler.read(group.column, node.at);
  }
  const known = compiler.find(node.name);
  if (!known) return compiler.column(node.name, node.at);
  const reads = groups.some(({ expression }) => columnsOf(expression).includes(node.name));
  problems.mismatch(
    node.at,
    reads
      ? `column [${node.name}] cannot be used as an aggregate once declared in the STATS BY grouping key [${grouping}]`
      : `column [${node.name}] must appear in the STATS BY clause or be used in an aggregate function`,
  );
  return unknownTyped(node.at);
}

function refuseNaked(compiler: Compiler, { at }: Expression, what: "key" | "function"): void {
  compiler.problems.mismatch(
    at,
    `grouping ${what} [${compiler.text(at)}] cannot be used as an aggregate once declared in the STATS BY clause`,
  );
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
  const nested = node.args.flatMap((argument) => firstCall(argument, "aggregate") ?? [])[0];
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
