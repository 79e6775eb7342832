/** Values that are written in a query: texts, numbers, time spans, lists of them. */
import { parsingError } from "./errors.ts";
import type { Params } from "./params.ts";
import type { Literal } from "./syntax.ts";
import { parseTimeSpan } from "./time-span.ts";
import type { TokenReader } from "./token-reader.ts";
import type { Token } from "./tokens.ts";

/** Takes the next token if it is a literal; a number takes the unit behind it along. */
export function takeLiteral(reader: TokenReader, params: Params): Literal | undefined {
  const token = reader.peek();
  if (token.kind === "keyword") {
    if (token.value === "null") {
      reader.next();
      return { type: "null" };
    }
    if (token.value !== "true" && token.value !== "false") return undefined;
    reader.next();
    return { type: "boolean", value: token.value === "true" };
  }
  if (token.kind === "string") {
    reader.next();
    return { type: "keyword", value: token.value };
  }
  if (token.kind === "param") {
    reader.next();
    return params.resolve(token.value, token);
  }
  if (token.kind !== "integer" && token.kind !== "decimal") return undefined;
  reader.next();
  const number = numberLiteral(token);
  const unit = token.kind === "integer" ? reader.take("name") : undefined;
  return unit && number.type !== "double" && number.type !== "null"
    ? { type: "span", value: parseTimeSpan(BigInt(token.value), unit.value, reader.spanFrom(token)) }
    : number;
}

/** `[value, value, …]` */
export function takeListItems(reader: TokenReader, params: Params): Literal[] {
  reader.next();
  const items: Literal[] = [];
  do {
    const sign = reader.take("symbol", "-") ?? reader.take("symbol", "+");
    const token = reader.peek();
    const item = token.kind === "param" ? undefined : takeLiteral(reader, params);
    if (!item || item.type === "null" || item.type === "span") {
      return reader.fail("{QUOTED_STRING, INTEGER_LITERAL, DECIMAL_LITERAL, 'false', 'true', '+', '-'}");
    }
    const signed = sign?.value === "-" ? negatedLiteral(item) : item;
    if (!signed)
      throw parsingError(
        token,
        `mismatched input '${reader.textOf(token)}' expecting {INTEGER_LITERAL, DECIMAL_LITERAL}`,
      );
    items.push(signed);
  } while (reader.take("symbol", ","));
  reader.expect("symbol", "]", "{',', ']'}");
  return items;
}

function numberLiteral(token: Token): Literal {
  if (token.kind === "decimal") {
    const value = Number(token.value);
    if (!Number.isFinite(value)) throw parsingError(token, `Number [${token.value}] is too large`);
    return { type: "double", value };
  }
  return integerLiteral(BigInt(token.value.length > 400 ? token.value.slice(0, 400) : token.value));
}

/** The narrowest type that holds it. */
export function integerLiteral(value: bigint): Literal {
  if (BigInt.asIntN(32, value) === value) return { type: "integer", value };
  if (BigInt.asIntN(64, value) === value) return { type: "long", value };
  if (BigInt.asUintN(64, value) === value) return { type: "unsigned_long", value };
  return { type: "double", value: Number(value) };
}

/** `undefined` for what has no sign. */
export function negatedLiteral(literal: Literal): Literal | undefined {
  if (literal.type === "double") return { type: "double", value: -literal.value };
  if (literal.type === "integer" || literal.type === "long" || literal.type === "unsigned_long") {
    return integerLiteral(-literal.value);
  }
  if (literal.type === "span") {
    const { months, days, ms, clock } = literal.value;
    return { type: "span", value: { months: -months, days: -days, ms: -ms, clock } };
  }
  return undefined;
}
