/** How a function is declared: once, for the analyser, the compiler and the manual. */
import type { Sql } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import type { Span } from "../errors.ts";
import type { Typed } from "../typed.ts";
import type { DataType, TypeSet } from "../types.ts";

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
  /** Takes several values; else a function has no value for what has several, and the vendor warns. */
  multi?: true;
}

/** One use of a function. */
export interface Call {
  compiler: Compiler;
  /** One a given argument; an argument that may be missing is `undefined` behind the last. */
  args: readonly Typed[];
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
}

/** Only as a group of STATS. */
export interface GroupingFunction extends Declaration {
  kind: "grouping";
  compile(call: Call): Typed;
}

export type FunctionDeclaration = ScalarFunction | AggregateFunction | GroupingFunction;

/** The type of the first argument; text comes out as keyword. */
export function sameType(types: readonly DataType[]): DataType {
  const type = types.find((given) => given !== "null") ?? "null";
  return type === "text" ? "keyword" : type;
}

/** The argument at this place. @throws Error if the declaration has none there */
export function argument({ args }: Call, index: number): Typed {
  const found = args[index];
  if (!found) throw new Error(`a function was compiled without its argument ${index}`);
  return found;
}
