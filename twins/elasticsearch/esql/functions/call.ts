/** Compiles calls: resolves the function, checks the arguments, makes SQL. */
import type { Sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { invalidArgument, parsingError, UnrecognisedEsql } from "../errors.ts";
import { convertLiteralTo } from "../implicit-cast.ts";
import { didYouMean } from "../params.ts";
import type { Expression } from "../syntax.ts";
import { constantTyped, nullTyped, type Typed, unknownTyped } from "../typed.ts";
import {
  type AggregateFunction,
  type Call,
  type FunctionDeclaration,
  ordinalOf,
  type Parameter,
} from "./declaration.ts";
import { findFunction, functionNames, refusedFunctions } from "./registry.ts";

type CallNode = Extract<Expression, { kind: "call" }>;

/** Compiles a call outside of STATS' aggregates and groups. */
export function compileCall(compiler: Compiler, node: CallNode): Typed {
  const declaration = resolveFunction(compiler, node);
  if (!declaration) return unknownTyped(node.at);
  checkArity(node, declaration);
  if (declaration.kind === "aggregate") {
    compiler.problems.mismatch(
      node.at,
      `aggregate function [${compiler.text(node.at)}] not allowed outside STATS command`,
    );
    return unknownTyped(node.at);
  }
  if (declaration.kind === "grouping" && !compiler.hasGroups) {
    compiler.problems.mismatch(
      node.at,
      `cannot use grouping function [${compiler.text(node.at)}] outside of a STATS command`,
    );
    return unknownTyped(node.at);
  }
  const call = readCall(compiler, node, declaration);
  if (!call) return unknownTyped(node.at);
  const isNull = call.args.some(({ type }) => type === "null");
  if (isNull && declaration.kind === "scalar" && !declaration.takesNull) return nullTyped(node.at, call.type);
  const compiled = compiler.problems.defer(
    () => declaration.compile(call),
    () => ({ ...nullTyped(node.at, call.type), constant: undefined }),
  );
  return { ...compiled, at: node.at };
}

/** Compiles an aggregate call; `undefined` after a problem was reported. */
export function compileAggregate(
  compiler: Compiler,
  node: CallNode,
  declaration: AggregateFunction,
): { sql: Sql; typed: Omit<Typed, "sql"> } | undefined {
  const call = readCall(compiler, node, declaration);
  if (!call) return undefined;
  const [first] = node.args;
  const refused =
    !declaration.ofConstant && !call.args[0]?.multi && first !== undefined && compiler.isFoldable(first);
  if (refused && compiler.context.fidelity === "vendor" && call.args[0]?.type !== "null") {
    const text = compiler.text(node.at);
    compiler.problems.refuse(invalidArgument(`Does not support yet aggregations over constants - [${text}]`));
  }
  const constant = declaration.ofConstant && constantCall(call);
  return {
    sql: constant && declaration.ofConstant ? declaration.ofConstant(constant) : declaration.compile(call),
    typed: {
      type: call.type,
      multi: declaration.multi ?? false,
      constant: undefined,
      atomic: true,
      depth: 1,
      at: node.at,
    },
  };
}

/**
 * The call with a constant first argument in a form that is valid outside of an aggregate; `undefined` if it is not
 * constant.
 */
function constantCall(call: Call): Call | undefined {
  const [node] = call.nodes;
  const [value, ...others] = call.args;
  if (!node || !value || !call.compiler.isFoldable(node)) return undefined;
  if (value.multi) return node.kind === "list" ? call : undefined;
  const constant = call.compiler.constant(node, value);
  if (!constant) return undefined;
  const typed =
    constant.type === "null" ? nullTyped(value.at, value.type) : constantTyped(constant, value.at);
  return { ...call, args: [typed, ...others] };
}

function resolveFunction(
  compiler: Compiler,
  { name, nameAt, at }: CallNode,
): FunctionDeclaration | undefined {
  const declaration = findFunction(name);
  if (declaration) return declaration;
  if (refusedFunctions.has(name)) throw new UnrecognisedEsql(at, `the function ${name.toUpperCase()}`);
  compiler.problems.unresolved(nameAt, `Unknown function [${name}]${didYouMean(name, functionNames())}`);
  return undefined;
}

function readCall(compiler: Compiler, node: CallNode, declaration: FunctionDeclaration): Call | undefined {
  const { at } = node;
  const { parameters, returns } = declaration;
  checkArity(node, declaration);
  const given = node.args.map((argument) => compiler.expression(argument));
  const args: Typed[] = [];
  for (const [index, value] of given.entries()) {
    const parameter = parameters[index] ?? parameters.at(-1);
    if (!parameter) return undefined;
    const converted = convertLiteralTo(compiler, value, parameter.types);
    if (!checkArguments(compiler, node, parameter, converted, index, parameters)) return undefined;
    args.push(parameter.multi ? converted : compiler.single(converted, at));
  }
  const types = args.map(({ type }) => type);
  const type = typeof returns === "string" ? returns : returns(types);
  return {
    compiler,
    args,
    nodes: node.args,
    type,
    at,
    derive: (made) => compiler.derive(type, made, at, ...args),
  };
}

function checkArguments(
  compiler: Compiler,
  node: CallNode,
  { types, refusedAs, unnumbered }: Parameter,
  value: Typed,
  index: number,
  parameters: readonly Parameter[],
): boolean {
  if (value.type === "unknown") return false;
  if (value.type === "null" || types.types.has(value.type)) return true;
  const alone = parameters.length === 1 && !parameters[0]?.rest;
  const ordinal = alone || unnumbered ? "" : ordinalOf(index);
  compiler.problems.mismatch(
    node.at,
    `${ordinal}argument of [${compiler.text(node.at)}] must be [${types.label}], found value [${compiler.text(refusedAs === "call" ? node.at : value.at)}] type [${value.type}]`,
  );
  return false;
}

function checkArity(node: CallNode, { name, parameters }: FunctionDeclaration): void {
  const count = node.args.length;
  const least = parameters.filter(({ optional }) => !optional).length;
  const maxCount = parameters.at(-1)?.rest ? Number.POSITIVE_INFINITY : parameters.length;
  if (count < least || count > maxCount || (node.star && name !== "count"))
    throw parsingError(node.at, `error building [${node.name}]: ${arity(parameters)}`);
}

const counts = ["no", "one", "two", "three", "four", "five"];

function arity(parameters: readonly Parameter[]): string {
  const least = parameters.filter(({ optional }) => !optional).length;
  const maxCount = parameters.length;
  const plural = (count: number) => (count === 1 ? "argument" : "arguments");
  if (parameters.at(-1)?.rest) return `expects at least ${counts[least]} ${plural(least)}`;
  if (least === 0 && maxCount === 0) return "expects no arguments";
  if (least === maxCount) return `expects exactly ${counts[least]} ${plural(least)}`;
  return maxCount - least === 1
    ? `expects ${counts[least]} or ${counts[maxCount]} arguments`
    : `expects minimum ${counts[least]}, maximum ${counts[maxCount]} arguments`;
}
