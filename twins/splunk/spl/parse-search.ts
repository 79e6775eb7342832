/** Parses a search: comments and macros first, then its commands. */
import { findCommand } from "./commands/registry.ts";
import type { Knowledge } from "./context/knowledge.ts";
import type { Pipeline } from "./syntax/ast.ts";
import { evaluateMacro } from "./syntax/eval-macro.ts";
import { expandMacros } from "./syntax/macros.ts";
import { type FindCommand, parsePipeline } from "./syntax/pipeline.ts";
import { checkBalance } from "./syntax/text.ts";

/** Searches that come again are not read again, unless they have macros: what these stand for may have changed. */
const known = new Map<string, Pipeline>();
const MOST_KNOWN = 200;
const LONGEST_KNOWN = 2_000;

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
  const isKept = find === findCommand && text.length <= LONGEST_KNOWN && !text.includes("`");
  const before = isKept ? known.get(text) : undefined;
  if (before !== undefined) return before;
  const query = expandMacros(text, (name, args) => knowledge.macro(name, args), evaluateMacro);
  checkBalance(query);
  const pipeline = parsePipeline(query, { start: 0, end: query.length }, find);
  if (!isKept) return pipeline;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, pipeline);
  return pipeline;
}
