/** Declarations of functions, for the compiler and for `FUNCTIONS.md`. */
import type { Expression } from "../../syntax/ast.ts";
import type { Scope } from "../scope.ts";
import type { Value } from "../value.ts";

export type Family =
  | "bitwise"
  | "comparison and conditional"
  | "conversion"
  | "cryptographic"
  | "date and time"
  | "informational"
  | "JSON"
  | "mathematical"
  | "multivalue"
  | "statistical"
  | "text"
  | "trigonometry";

/** The context of one call. */
export interface Use {
  scope: Scope;
  /** Compiles an argument of a `FormFunction`. */
  compile(expression: Expression, scope: Scope): Promise<Value>;
  /** @throws SplError `The arguments to the 'x' function are invalid.` */
  fail(): never;
}

interface Declaration {
  name: string;
  aliases?: readonly string[];
  family: Family;
  /** `round(number, [digits])` */
  syntax: string;
  /** One sentence. */
  summary: string;
  minArgs: number;
  /** `undefined`: no limit. */
  maxArgs: number | undefined;
  /** Accepts `null()`, which other functions reject. A missing field is accepted by all. */
  takesNull?: true;
}

/** A function whose arguments are compiled to values first. */
export interface PlainFunction extends Declaration {
  kind: "plain";
  compile(args: readonly Value[], use: Use): Value | Promise<Value>;
}

/** A function that compiles its arguments itself. */
export interface FormFunction extends Declaration {
  kind: "form";
  compile(args: readonly Expression[], use: Use): Value | Promise<Value>;
}

export type EvalFunction = PlainFunction | FormFunction;
