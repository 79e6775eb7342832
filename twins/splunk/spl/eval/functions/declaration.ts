/** How a function is declared: once, for the compiler and the manual. */
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

/** Where a function is used. */
export interface Use {
  scope: Scope;
  /** @throws SplError `The arguments to the 'x' function are invalid.` */
  fail(): never;
}

interface Declaration {
  name: string;
  /** Other names. */
  aliases?: readonly string[];
  family: Family;
  /** `round(number, [digits])` */
  syntax: string;
  /** One sentence. */
  summary: string;
  /** How many arguments. */
  least: number;
  /** `undefined`: any number. */
  most: number | undefined;
  /** It takes `null()`; others refuse it. A field that is missing is no such thing. */
  takesNull?: true;
}

/** Its arguments are values. */
export interface PlainFunction extends Declaration {
  kind: "plain";
  compile(args: readonly Value[], use: Use): Value | Promise<Value>;
}

/** It compiles its arguments itself. */
export interface FormFunction extends Declaration {
  kind: "form";
  compile(args: readonly Expression[], use: Use): Value | Promise<Value>;
}

export type EvalFunction = PlainFunction | FormFunction;
