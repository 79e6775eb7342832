/** Parses a search: comments and macros first, then its commands. */
import { memoize } from "@offhook/platform/base/memoize";
import { findCommand } from "./commands/registry.ts";
import type { Pipeline } from "./syntax/ast.ts";
import { evaluateMacro } from "./syntax/eval-macro.ts";
import { expandMacros, type FindMacro } from "./syntax/macros.ts";
import { type FindCommand, parsePipeline } from "./syntax/pipeline.ts";
import { checkBalance } from "./syntax/text.ts";

const MAX_MEMOIZED = 200;
const MAX_MEMOIZED_CHARACTERS = 2_000;

/**
 * @param text as the REST API takes it: its first word is a command, with or without `|` before it (see `withImplicitSearch`)
 * @param find the known commands
 * @throws SplError of phase `dispatch`
 */
export function parseSearch(
  text: string,
  knowledge: { macro: FindMacro },
  find: FindCommand = findCommand,
): Pipeline {
  // A search with macros is parsed each time, since the macros may have changed.
  const isStable = find === findCommand && text.length <= MAX_MEMOIZED_CHARACTERS && !text.includes("`");
  return isStable ? parseWithoutMacros(text) : parse(text, knowledge, find);
}

const parseWithoutMacros = memoize(
  (text) => parse(text, { macro: () => undefined }, findCommand),
  MAX_MEMOIZED,
);

function parse(text: string, knowledge: { macro: FindMacro }, find: FindCommand): Pipeline {
  const query = expandMacros(text, (name, args) => knowledge.macro(name, args), evaluateMacro);
  checkBalance(query);
  return parsePipeline(query, { start: 0, end: query.length }, find);
}
