/** Reads the aggregates of `stats` and the like: `count`, `dc(user) AS users`, `sum(eval(bytes / 1024))`, `sparkline(count, 1h)`. */
import type { ArgumentReader } from "./argument-reader.ts";
import type { AggregateCall } from "./ast.ts";

const functionName = /^[A-Za-z_][A-Za-z0-9_.]*$/;

/** Reads aggregates, separated by commas or blanks, up to the end or a stop word. */
export function readAggregates(
  reader: ArgumentReader,
  stopWords: readonly string[] = ["by", "over"],
): AggregateCall[] {
  const calls: AggregateCall[] = [];
  for (;;) {
    if (reader.symbol(",")) continue;
    const token = reader.peek();
    if (token.type !== "word" && token.type !== "string") return calls;
    if (token.type === "word") {
      if (stopWords.some((word) => word.toLowerCase() === token.text.toLowerCase())) return calls;
      const after = reader.peek(1);
      if (after.type === "symbol" && after.text === "=") return calls;
    }
    calls.push(readAggregate(reader));
  }
}

/** Reads one aggregate with its `AS`. */
function readAggregate(reader: ArgumentReader): AggregateCall {
  const token = reader.next();
  if (!functionName.test(token.text)) reader.fail(`The argument '${token.text}' is invalid.`);
  const name = token.text.toLowerCase();
  const open = reader.peek();
  const called = open.type === "symbol" && open.text === "(" && open.start === token.end;
  const argument = called ? readArgument(reader, name) : ({ kind: "none" } as const);
  const text = reader.textOf({ start: token.start, end: reader.offset() });
  const as = reader.keyword("as") ? reader.field("a name after AS") : undefined;
  return { name, argument, as, text };
}

/** Reads BY and its fields, if BY is next. */
export function readBy(reader: ArgumentReader, stopWords: readonly string[] = []): string[] {
  if (!reader.keyword("by")) return [];
  const fields = reader.fields(stopWords);
  if (fields.length === 0) reader.fail("You must specify at least one field after 'by'.");
  return fields;
}

function readArgument(reader: ArgumentReader, name: string): AggregateCall["argument"] {
  reader.next();
  if (reader.symbol(")")) return { kind: "none" };
  if (name === "sparkline") return readSparkline(reader);
  if (name === "eval") return expectClosing(reader, expressionArgument(reader));
  const first = reader.peek();
  const after = reader.peek(1);
  const isEval = first.type === "word" && first.text.toLowerCase() === "eval";
  if (isEval && after.type === "symbol" && after.text === "(") {
    reader.next();
    reader.next();
    return expectClosing(reader, expectClosing(reader, expressionArgument(reader)));
  }
  return expectClosing(reader, { kind: "field", name: reader.field(`the field of '${name}'`) });
}

function expressionArgument(reader: ArgumentReader): AggregateCall["argument"] {
  const expression = reader.expression();
  return { kind: "expression", expression, text: reader.textOf(expression).trim() };
}

function readSparkline(reader: ArgumentReader): AggregateCall["argument"] {
  const aggregate = readAggregate(reader);
  const span = reader.symbol(",") ? reader.text("the span of 'sparkline'") : undefined;
  return expectClosing(reader, { kind: "sparkline", aggregate, span });
}

function expectClosing<Argument>(reader: ArgumentReader, argument: Argument): Argument {
  if (reader.atEnd()) reader.fail("Mismatched quotes and/or parenthesis.");
  if (!reader.symbol(")")) reader.fail(`The argument '${reader.peek().text}' is invalid.`);
  return argument;
}
