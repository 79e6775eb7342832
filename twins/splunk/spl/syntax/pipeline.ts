/** Parses a pipeline after the expansion of macros. */
import type { Command } from "../command.ts";
import { commandError } from "../spl-error.ts";
import type { Pipeline, Span } from "./ast.ts";
import { parserError, splitAtPipes, trimSpan } from "./text.ts";
import { createArgumentReader } from "./text-argument-reader.ts";

/** Finds a command. @param name in lower case @throws SplError for an unknown name */
export type FindCommand = (name: string) => Command;

const commandName = /[^\s|[\]()"=,<>!]+/y;

/** @param text balanced (`checkBalance`) @throws SplError */
export function parsePipeline(text: string, span: Span, find: FindCommand): Pipeline {
  const pieces = splitAtPipes(text, span).map((piece) => trimSpan(text, piece));
  const query = text.slice(span.start, span.end).trim();
  const [first] = pieces;
  const leading = first !== undefined && first.start === first.end && pieces.length > 1;
  const stages = leading ? pieces.slice(1) : pieces;
  const commands = stages.map((stage, index) => {
    if (stage.start === stage.end) {
      if (query === "" || index === stages.length - 1)
        throw parserError("Missing a search command after '|'.", stage.start);
      const where = `Error at position '${stage.start - span.start}' of search query '${excerpt(query)}'.`;
      throw parserError(`Missing a search command before '|'. ${where}`, stage.start);
    }
    return parseCommand(text, stage, index === 0 ? "first" : "later", find);
  });
  return { commands, text: query };
}

function parseCommand(text: string, { start, end }: Span, position: "first" | "later", find: FindCommand) {
  commandName.lastIndex = start;
  const name = commandName.exec(text)?.[0];
  if (name === undefined || start + name.length > end) {
    const message =
      text[start] === "["
        ? "Subsearches are only valid as arguments to commands."
        : "Missing a search command before '|'.";
    throw parserError(`${message} Error at position '${start}' of search query '${excerpt(text)}'.`, start);
  }
  const command = find(name.toLowerCase());
  const args = trimSpan(text, { start: start + name.length, end });
  const nested = (span: Span) => parsePipeline(text, span, find);
  const reader = createArgumentReader({ command: command.name, text, span: args, nested });
  const bound = command.bind(reader, text.slice(args.start, args.end));
  if (bound.kind === "generating" && position !== "first") {
    throw commandError(command.name, "This command must be the first command of a search.");
  }
  return bound;
}

function excerpt(query: string): string {
  return query.length > 100 ? `${query.slice(0, 100)}…` : query;
}
