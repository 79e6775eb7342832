/** Reads a search: comments and macros first, then its commands. */
import { findCommand } from "./commands/registry.ts";
import type { Knowledge } from "./knowledge.ts";
import type { Pipeline } from "./syntax/ast.ts";
import { evaluateMacro } from "./syntax/eval-macro.ts";
import { expandMacros } from "./syntax/macros.ts";
import { type FindCommand, parsePipeline } from "./syntax/pipeline.ts";
import { checkBalance } from "./syntax/text.ts";

/**
 * @param text as the REST API takes it: its first word is a command, with or without `|` before it (see `withImplicitSearch`)
 * @param find other commands than those of the registry
 * @throws SplError of phase `dispatch`
 */
export function parseSearch(
  text: string,
  knowledge: Pick<Knowledge, "macro">,
  find: FindCommand = findCommand,
): Pipeline {
  const query = expandMacros(text, (name, args) => knowledge.macro(name, args), evaluateMacro);
  checkBalance(query);
  return parsePipeline(query, { start: 0, end: query.length }, find);
}
