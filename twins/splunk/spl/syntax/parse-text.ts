/** Parses expressions that are no command's arguments: a subsearch's result, an event type, `searchmatch`. */
import { SplError } from "../spl-error.ts";
import type { Expression, Pipeline, SearchExpression } from "./ast.ts";
import { checkBalance } from "./text.ts";
import { createArgumentReader } from "./text-argument-reader.ts";

/** Parses a search: `context.parse`. */
type Parse = (search: string) => Pipeline;

/** @throws SplError `Error in 'search' command: …` */
export function parseSearchExpression(text: string, parse: Parse = noSubsearch): SearchExpression {
  const reader = readerOf("search", text, parse);
  const expression = reader.searchExpression();
  reader.end();
  return expression;
}

/** @param command for messages: `eval`, `where` @throws SplError */
export function parseExpression(text: string, command: string, parse: Parse = noSubsearch): Expression {
  const reader = readerOf(command, text, parse);
  const expression = reader.expression();
  reader.end();
  return expression;
}

function readerOf(command: string, text: string, parse: Parse) {
  checkBalance(text);
  const nested = ({ start, end }: { start: number; end: number }) => parse(text.slice(start, end));
  return createArgumentReader({ command, text, span: { start: 0, end: text.length }, nested });
}

function noSubsearch(): never {
  throw new SplError("Error in 'SearchParser': Subsearches are only valid as arguments to commands.");
}
