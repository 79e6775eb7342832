/** Declarations of functions, shared by the analyser, the compiler and the manual. */
import type { Sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import type { Span } from "../errors.ts";
import type { Expression } from "../syntax.ts";
import type { Constant, Typed } from "../typed.ts";
import { type DataType, isString, type TypeSet } from "../types.ts";

type Family =
  | "string"
  | "date"
  | "math"
  | "conditional"
  | "ip"
  | "conversion"
  | "multi-value"
  | "aggregate"
  | "grouping";

export interface Parameter {
  name: string;
  types: TypeSet;
  optional?: true;
  /** Accepts this argument and all after it. */
  rest?: true;
  /** Errors quote the whole call instead of the argument, as the vendor's do. */
  refusedAs?: "call";
  /** Errors do not number the argument, as the vendor's do not. */
  unnumbered?: true;
  /** Accepts several values; otherwise a row with several values yields null with the vendor's warning. */
  multi?: true;
}

/** A call of a function. */
export interface Call {
  compiler: Compiler;
  /** One per given argument; missing optional arguments are absent at the end. */
  args: readonly Typed[];
  /** The syntax nodes of `args`. */
  nodes: readonly Expression[];
  /** The result type for these arguments. */
  type: DataType;
  at: Span;
  /** A value of `type` computed from the arguments. */
  derive(computed: Sql): Typed;
}

interface Declaration {
  name: string;
  aliases?: readonly string[];
  family: Family;
  summary: string;
  parameters: readonly Parameter[];
  /** The result type, fixed or by the types of the arguments. */
  returns: DataType | ((types: readonly DataType[]) => DataType);
}

export interface ScalarFunction extends Declaration {
  kind: "scalar";
  /** The function handles null itself; otherwise a null argument makes the result null. */
  takesNull?: true;
  compile(call: Call): Typed;
}

export interface AggregateFunction extends Declaration {
  kind: "aggregate";
  /** Whether the result can have several values. */
  multi?: true;
  /** SQL that aggregates the rows of a group. */
  compile(call: Call): Sql;
  /** SQL for a constant first argument. Absent: `compile` handles constants, too. */
  ofConstant?(call: Call): Sql;
}

/** A function that is only allowed as a group of STATS. */
export interface GroupingFunction extends Declaration {
  kind: "grouping";
  compile(call: Call): Typed;
}

export type FunctionDeclaration = ScalarFunction | AggregateFunction | GroupingFunction;

/** The type of the first argument that is not null. */
export function sameType(types: readonly DataType[]): DataType {
  return types.find((given) => given !== "null") ?? "null";
}

/**
 * Whether a function treats two types as one. In `specification` text counts as keyword, because a dataset has all its
 * strings as text.
 */
export function sameKind({ compiler }: Call, a: DataType, b: DataType): boolean {
  return a === b || (compiler.context.fidelity === "specification" && isString(a) && isString(b));
}

const ordinals = ["first", "second", "third", "fourth", "fifth"];

/** `first ` to `fifth `; the vendor names no further ones. */
export function ordinalOf(index: number): string {
  const ordinal = ordinals[index];
  return ordinal === undefined ? "" : `${ordinal} `;
}

/**
 * The constant value of an argument; `undefined` when the argument reads rows.
 * @throws UnfoldedConstant before the value is computed
 */
export function constantArgument(call: Call, index: number): Constant | undefined {
  const node = call.nodes[index];
  return node && call.compiler.constant(node, argument(call, index));
}

/** @throws Error if the declaration has no such argument */
export function argument({ args }: Call, index: number): Typed {
  const found = args[index];
  if (!found) throw new Error(`a function was compiled without its argument ${index}`);
  return found;
}
