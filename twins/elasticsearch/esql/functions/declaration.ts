/** How a function is declared: once, for the analyser, the compiler and the manual. */
import type { Sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import type { Span } from "../errors.ts";
import type { Expression } from "../syntax.ts";
import type { Constant, Typed } from "../typed.ts";
import { type DataType, isString, type TypeSet } from "../types.ts";

export type Family =
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
  /** Takes this argument and all that follow. */
  rest?: true;
  /** A refusal names the whole call as what it found, as the vendor's does. */
  refusedAs?: "call";
  /** A refusal does not say which argument it is, as the vendor's does not. */
  unnumbered?: true;
  /** Takes several values; else a function has no value for what has several, and the vendor warns. */
  multi?: true;
}

/** One use of a function. */
export interface Call {
  compiler: Compiler;
  /** One a given argument; an argument that may be missing is `undefined` behind the last. */
  args: readonly Typed[];
  /** What they were compiled of. */
  nodes: readonly Expression[];
  /** What `returns` says for these arguments. */
  type: DataType;
  at: Span;
  /** A value of `type` made of the arguments. */
  made(made: Sql): Typed;
}

interface Declaration {
  name: string;
  /** Other names. */
  aliases?: readonly string[];
  family: Family;
  /** One sentence. */
  summary: string;
  parameters: readonly Parameter[];
  /** The type of the result, by those of the arguments. */
  returns: DataType | ((types: readonly DataType[]) => DataType);
}

export interface ScalarFunction extends Declaration {
  kind: "scalar";
  /** It says itself what a null means; else a null argument makes a null. */
  takesNull?: true;
  compile(call: Call): Typed;
}

export interface AggregateFunction extends Declaration {
  kind: "aggregate";
  /** Whether the result can have several values. */
  multi?: true;
  /** SQL that aggregates the rows of a group. */
  compile(call: Call): Sql;
  /** SQL for a first argument that is a constant, in place of `compile`. Absent: it is aggregated like any other. */
  ofConstant?(call: Call): Sql;
}

/** Only as a group of STATS. */
export interface GroupingFunction extends Declaration {
  kind: "grouping";
  compile(call: Call): Typed;
}

export type FunctionDeclaration = ScalarFunction | AggregateFunction | GroupingFunction;

/** The type of the first argument that has one. */
export function sameType(types: readonly DataType[]): DataType {
  return types.find((given) => given !== "null") ?? "null";
}

/**
 * Whether a function takes two types for the same. In `specification` text counts as keyword: a dataset has its strings as text alone.
 */
export function sameKind({ compiler }: Call, a: DataType, b: DataType): boolean {
  return a === b || (compiler.context.fidelity === "specification" && isString(a) && isString(b));
}

const ordinals = ["first", "second", "third", "fourth", "fifth"];

/** `first `, up to `fifth `; the vendor counts no further. */
export function ordinalOf(index: number): string {
  const ordinal = ordinals[index];
  return ordinal === undefined ? "" : `${ordinal} `;
}

/**
 * The value of the argument at this place when it reads no row; `undefined` when it reads rows.
 * @throws UnfoldedConstant when it has yet to be computed
 */
export function constantArgument(call: Call, index: number): Constant | undefined {
  const node = call.nodes[index];
  return node && call.compiler.constant(node, argument(call, index));
}

/** The argument at this place. @throws Error if the declaration has none there */
export function argument({ args }: Call, index: number): Typed {
  const found = args[index];
  if (!found) throw new Error(`a function was compiled without its argument ${index}`);
  return found;
}
