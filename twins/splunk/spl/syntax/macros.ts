/** Removes comments and expands macros, both only outside of double quotes. */
import { SplError } from "../spl-error.ts";
import { validateMacro } from "./eval-macro.ts";
import { afterString, parserError } from "./text.ts";

/** Deepest nesting of macros. */
const MAX_DEPTH = 100;
/** Most UTF-16 units that macros add to a search, counted at each level of nesting. */
const MAX_EXPANDED_LENGTH = 4_000_000;
const comment = "```";

export interface Macro {
  /** `name` or `name(2)`. */
  name: string;
  args: readonly string[];
  /** Contains `$arg$` in place of each argument. */
  definition: string;
  /** `definition` is an eval expression that computes the macro's text. */
  isEval: boolean;
  /** An eval expression over the arguments; absent or empty: any arguments are valid. */
  validation?: string;
  /** The message for invalid arguments. */
  errorMessage?: string;
}

/** @param args number of arguments */
export type FindMacro = (name: string, args: number) => Macro | undefined;
/** Computes the text of an eval macro. @throws SplError */
export type EvaluateMacro = (definition: string) => string;

interface Expansion {
  find: FindMacro;
  evaluate: EvaluateMacro;
  /** What remains of `MAX_EXPANDED_LENGTH`. */
  room: number;
}

/** Removes comments and expands macros. @throws SplError for an unknown or endlessly recursive macro */
export function expandMacros(text: string, find: FindMacro, evaluate: EvaluateMacro): string {
  return expand(text, { find, evaluate, room: MAX_EXPANDED_LENGTH }, 0);
}

function expand(text: string, expansion: Expansion, depth: number): string {
  if (!text.includes("`")) return text;
  const pieces: string[] = [];
  let from = 0;
  for (let index = 0; index < text.length; ) {
    const char = text[index];
    if (char === '"') {
      const after = afterString(text, index);
      if (after === -1) break;
      index = after;
      continue;
    }
    if (char !== "`") {
      index += char === "\\" ? 2 : 1;
      continue;
    }
    pieces.push(text.slice(from, index));
    const { after, replacement } = text.startsWith(comment, index)
      ? { after: afterComment(text, index), replacement: " " }
      : expandInvocation(text, index, expansion, depth);
    pieces.push(replacement);
    from = after;
    index = after;
  }
  pieces.push(text.slice(from));
  return pieces.join("");
}

function afterComment(text: string, at: number): number {
  const close = text.indexOf(comment, at + comment.length);
  if (close === -1) throw parserError("Missing comment closing tickmarks.", at);
  return close + comment.length;
}

function expandInvocation(
  text: string,
  at: number,
  expansion: Expansion,
  depth: number,
): { after: number; replacement: string } {
  const close = closingBacktick(text, at);
  if (close === -1) throw parserError("Missing a closing tick mark for macro expansion.", at);
  const call = text.slice(at + 1, close).trim();
  const { name, args } = parseInvocation(call, at);
  const macro = expansion.find(name, args.length);
  if (macro === undefined) throw unknownMacro(name, args.length, at);
  if (depth >= MAX_DEPTH) {
    throw parserError(
      `Reached maximum recursion depth (${MAX_DEPTH}) while expanding macros. Check for infinitely recursive macro definitions.`,
      at,
    );
  }
  const wrong = argumentError(macro, args);
  if (wrong !== undefined) throw parserError(wrong, at);
  const pieces = substitute(macro, args);
  expansion.room -= pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (expansion.room < 0) {
    throw new SplError(
      `The search is longer than ${MAX_EXPANDED_LENGTH} characters with its macros expanded.`,
    );
  }
  const definition = pieces.join("");
  const result = macro.isEval ? expansion.evaluate(definition) : definition;
  const replacement = expand(result, expansion, depth + 1);
  return { after: close + 1, replacement };
}

function unknownMacro(name: string, args: number, at: number): SplError {
  const called = args === 0 ? name : `${name}(${args})`;
  return parserError(
    `The search specifies a macro '${called}' that cannot be found. Reasons include: the macro name is misspelled, you do not have "read" permission for the macro, or the macro has not been shared with this application. Click Settings, Advanced search, Search Macros to view macro information.`,
    at,
  );
}

function closingBacktick(text: string, at: number): number {
  for (let index = at + 1; index < text.length; ) {
    if (text[index] === "`") return index;
    const after = text[index] === '"' ? afterString(text, index) : index + 1;
    if (after === -1) return -1;
    index = after;
  }
  return -1;
}

function parseInvocation(call: string, at: number): { name: string; args: string[] } {
  const open = call.indexOf("(");
  const name = (open === -1 ? call : call.slice(0, open)).trim();
  if (call === "") throw parserError("You must provide a macro expression.", at);
  if (name === "")
    throw parserError(`The macro expression '${call}' is invalid. A macro name is required.`, at);
  if (open === -1) return { name, args: [] };
  if (!call.endsWith(")"))
    throw parserError(`The macro expression '${call}' is invalid. Expected closing ')'.`, at);
  const inner = call.slice(open + 1, -1);
  return { name, args: inner.trim() === "" ? [] : splitArguments(inner) };
}

/** Splits at commas outside of quotes and parentheses, and removes the quotes around whole arguments. */
function splitArguments(text: string): string[] {
  const args: string[] = [];
  let from = 0;
  let depth = 0;
  for (let index = 0; index <= text.length; ) {
    const char = text[index];
    if (char === '"') {
      const after = afterString(text, index);
      index = after === -1 ? text.length : after;
      continue;
    }
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (char === undefined || (char === "," && depth <= 0)) {
      args.push(unquoteArgument(text.slice(from, index).trim()));
      from = index + 1;
    }
    index += char === "\\" && index + 1 < text.length ? 2 : 1;
  }
  return args;
}

function unquoteArgument(text: string): string {
  if (text[0] !== '"' || afterString(text, 0) !== text.length) return text;
  return text.slice(1, -1).replaceAll('\\"', '"');
}

/** The error message for invalid arguments, if the macro validates them. */
function argumentError(
  { name, args, validation = "", errorMessage = "" }: Macro,
  values: readonly string[],
): string | undefined {
  if (validation.trim() === "") return undefined;
  const message = errorMessage || `The arguments of the macro '${name}' are invalid.`;
  return validateMacro(validation, argumentsByName(args, values), message);
}

/** Substitutes the arguments. @returns the text in pieces */
function substitute({ definition, args }: Macro, values: readonly string[]): string[] {
  if (args.length === 0) return [definition];
  const byName = argumentsByName(args, values);
  return definition
    .split(/(\$[^$\s]+\$)/)
    .map((piece) => (piece.startsWith("$") ? (byName.get(piece.slice(1, -1)) ?? piece) : piece));
}

/** Arguments by position, or by name if each is written as `name=value`. */
function argumentsByName(names: readonly string[], values: readonly string[]): Map<string, string> {
  const named = values.map((value) => /^([^\s="]+)\s*=\s*(.*)$/s.exec(value));
  if (named.every((match) => match !== null && names.includes(match[1] ?? ""))) {
    return new Map(named.map((match) => [match?.[1] ?? "", unquoteArgument(match?.[2] ?? "")]));
  }
  return new Map(names.map((name, index) => [name, values[index] ?? ""]));
}
