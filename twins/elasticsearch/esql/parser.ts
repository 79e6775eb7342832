/**
 * Parses a query into commands.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-commands.html
 */
import { parsingError, type Span, syntaxError } from "./errors.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { tokenize } from "./lexer.ts";
import type { Params } from "./params.ts";
import type { Command, NamedExpression, NamePattern, SortKey } from "./syntax.ts";
import { TokenReader } from "./token-reader.ts";
import { processingCommands, sourceCommands, type Token } from "./tokens.ts";

/** The vendor's limits. */
const MAX_LENGTH = 1_000_000;
const MAX_COMMANDS = 500;

/** @throws VendorError `parsing_exception` with line and column */
export function parse(query: string, params: Params): Command[] {
  if (query.length > MAX_LENGTH) {
    throw syntaxError(
      { line: 1, column: 1, start: 0, end: 0 },
      `ESQL statement is too large [${query.length} characters > ${MAX_LENGTH}]`,
    );
  }
  return new Parser(new TokenReader(query, tokenize(query)), params).query();
}

const names = (commands: readonly string[]) => `{${commands.map((name) => `'${name}'`).join(", ")}}`;

function isStar({ text }: NamePattern): boolean {
  return text === "*";
}

class Parser {
  readonly #reader: TokenReader;
  readonly #expressions: ExpressionParser;

  constructor(reader: TokenReader, params: Params) {
    this.#reader = reader;
    this.#expressions = new ExpressionParser(reader, params);
  }

  query(): Command[] {
    const commands = [this.#command(sourceCommands)];
    while (!this.#reader.at("end")) {
      this.#reader.expect("symbol", "|", this.#expectedBehind(commands.at(-1)));
      commands.push(this.#command(processingCommands));
      if (commands.length > MAX_COMMANDS) {
        throw syntaxError(
          this.#reader.previous(),
          `ESQL statement exceeded the maximum query depth allowed (${MAX_COMMANDS}): [${this.#reader.query.slice(0, 200)}]`,
        );
      }
    }
    return commands;
  }

  #expectedBehind(command: Command | undefined): string {
    if (command?.kind === "from") return "{<EOF>, '|', ',', 'metadata'}";
    if (command?.kind === "limit" || command?.kind === "mv_expand") return "{<EOF>, '|'}";
    if (command?.kind === "where") return "{<EOF>, '|', 'and', 'or'}";
    if (command?.kind === "sort") return "{<EOF>, '|', 'and', 'asc', ',', 'desc', 'nulls', 'or'}";
    if (command?.kind === "stats" && command.groups.length === 0)
      return "{<EOF>, '|', 'and', 'by', ',', 'or'}";
    return "{<EOF>, '|', 'and', ',', 'or'}";
  }

  #command(known: readonly string[]): Command {
    const token = this.#reader.peek();
    if (token.kind !== "command" || !known.includes(token.value)) this.#reader.fail(names(known));
    this.#reader.next();
    const command = this.#body(token);
    return { ...command, at: { ...token, end: this.#reader.previous().end } };
  }

  #body(token: Token): Command {
    const at: Span = token;
    switch (token.value) {
      case "from":
        return { at, kind: "from", ...this.#from() };
      case "row":
        return { at, kind: "row", fields: this.#expressions.namedList() };
      case "show":
        this.#reader.expect("name", "info", "'info'");
        return { at, kind: "show info" };
      case "where":
        return { at, kind: "where", condition: this.#expressions.parse() };
      case "eval":
        return { at, kind: "eval", fields: this.#expressions.namedList() };
      case "stats":
        return { at, kind: "stats", ...this.#stats() };
      case "sort":
        return { at, kind: "sort", keys: this.#sortKeys() };
      case "limit":
        return { at, kind: "limit", count: this.#limit() };
      case "keep":
        return { at, kind: "keep", patterns: this.#kept() };
      case "drop":
        return { at, kind: "drop", patterns: this.#dropped() };
      case "rename":
        return { at, kind: "rename", renames: this.#renames() };
      case "dissect":
        return { at, kind: "dissect", ...this.#dissect() };
      case "grok": {
        const input = this.#expressions.primary();
        return {
          at,
          kind: "grok",
          input,
          pattern: this.#reader.expect("string", undefined, "QUOTED_STRING").value,
        };
      }
      case "mv_expand": {
        const { name, at: nameAt } = this.#expressions.qualifiedName();
        return { at, kind: "mv_expand", name, nameAt };
      }
      default:
        while (!this.#reader.at("end") && !this.#reader.at("symbol", "|")) this.#reader.next();
        return { at, kind: "unserved", what: `the command ${token.value.toUpperCase()}` };
    }
  }

  #from(): { sources: { text: string; at: Span }[]; metadata: { name: string; at: Span }[] } {
    const sources: { text: string; at: Span }[] = [];
    do sources.push(this.#source());
    while (this.#reader.take("symbol", ","));
    return { sources, metadata: this.#metadata() };
  }

  #source(): { text: string; at: Span } {
    const quoted = this.#reader.take("string");
    if (quoted) return { text: quoted.value, at: quoted };
    const first = this.#reader.expect("source", undefined, "{QUOTED_STRING, UNQUOTED_SOURCE}");
    if (!this.#reader.take("symbol", ":")) return { text: first.value, at: first };
    const second = this.#reader.expect("source", undefined, "UNQUOTED_SOURCE");
    return { text: `${first.value}:${second.value}`, at: { ...first, end: second.end } };
  }

  #metadata(): { name: string; at: Span }[] {
    const open = this.#reader.take("symbol", "[");
    const fields: { name: string; at: Span }[] = [];
    if (open && !this.#reader.at("keyword", "metadata")) this.#reader.fail("'metadata'");
    if (this.#reader.take("keyword", "metadata")) {
      do {
        const field = this.#reader.expect("source", undefined, "UNQUOTED_SOURCE");
        const before = fields.find(({ name }) => name === field.value);
        if (before) {
          throw parsingError(
            field,
            `metadata field [${field.value}] already declared [@${before.at.line}:${before.at.column}]`,
          );
        }
        fields.push({ name: field.value, at: field });
      } while (this.#reader.take("symbol", ","));
    }
    if (open) this.#reader.expect("symbol", "]", "{',', ']'}");
    return fields;
  }

  #stats(): { aggregates: NamedExpression[]; groups: NamedExpression[] } {
    const reader = this.#reader;
    const stats = reader.previous();
    const none = reader.at("keyword", "by") || reader.at("symbol", "|") || reader.at("end");
    const aggregates = none ? [] : this.#expressions.namedList();
    const groups = reader.take("keyword", "by") ? this.#expressions.namedList() : [];
    if (aggregates.length === 0 && groups.length === 0) {
      throw parsingError(
        stats,
        `At least one aggregation or grouping expression required in [${reader.textOf(stats)}]`,
      );
    }
    return { aggregates, groups };
  }

  #sortKeys(): SortKey[] {
    const keys: SortKey[] = [];
    do {
      const expression = this.#expressions.parse();
      const descending = this.#reader.take("keyword", "desc") !== undefined;
      if (!descending) this.#reader.take("keyword", "asc");
      let nullsFirst = descending;
      if (this.#reader.take("keyword", "nulls")) {
        nullsFirst = this.#reader.take("keyword", "first") !== undefined;
        if (!nullsFirst) this.#reader.expect("keyword", "last", "{'first', 'last'}");
      }
      keys.push({ expression, descending, nullsFirst });
    } while (this.#reader.take("symbol", ","));
    return keys;
  }

  #limit(): number {
    const token = this.#reader.expect("integer", undefined, "INTEGER_LITERAL");
    const count = Number(token.value);
    if (count > 2_147_483_647) throw parsingError(token, `Number [${token.value}] is too large`);
    return count;
  }

  #patterns(): NamePattern[] {
    const patterns: NamePattern[] = [];
    do patterns.push(this.#pattern());
    while (this.#reader.take("symbol", ","));
    return patterns;
  }

  #kept(): NamePattern[] {
    const patterns = this.#patterns();
    const [, again] = patterns.filter(isStar);
    if (again) throw parsingError(again.at, "Cannot specify [*] more than once");
    return patterns;
  }

  #dropped(): NamePattern[] {
    const patterns = this.#patterns();
    const all = patterns.find(isStar);
    if (all) throw parsingError(all.at, "Removing all fields is not allowed [*]");
    return patterns;
  }

  #renames(): { from: NamePattern; to: NamePattern }[] {
    const renames: { from: NamePattern; to: NamePattern }[] = [];
    do {
      const from = this.#pattern();
      this.#reader.expect("keyword", "as", "{'as', '.'}");
      const to = this.#pattern();
      for (const side of [from, to]) {
        if (side.parts.length > 1)
          throw parsingError(
            from.at,
            `Using wildcards [*] in RENAME is not allowed [${from.text} AS ${to.text}]`,
          );
      }
      renames.push({ from, to });
    } while (this.#reader.take("symbol", ","));
    return renames;
  }

  #pattern(): NamePattern {
    const first = this.#reader.peek();
    const parts: string[] = [];
    let open = "";
    for (;;) {
      const token = this.#reader.expect("pattern", undefined, "{UNQUOTED_ID_PATTERN, QUOTED_IDENTIFIER}");
      const pieces = token.quoted ? [token.value] : token.value.split("*");
      const last = pieces.pop() ?? "";
      for (const piece of pieces) {
        parts.push(open + piece);
        open = "";
      }
      open += last;
      if (!this.#reader.take("symbol", ".")) break;
      open += ".";
    }
    parts.push(open);
    return { text: parts.join("*"), parts, at: { ...first, end: this.#reader.previous().end } };
  }

  #dissect(): Pick<Extract<Command, { kind: "dissect" }>, "input" | "pattern" | "separator"> {
    const input = this.#expressions.primary();
    const pattern = this.#reader.expect("string", undefined, "QUOTED_STRING").value;
    let separator = "";
    while (this.#reader.at("name")) {
      const option = this.#reader.next();
      if (option.value.toLowerCase() !== "append_separator") {
        throw parsingError(option, `Invalid option for dissect: [${option.value}]`);
      }
      this.#reader.expect("symbol", "=", "'='");
      const value = this.#expressions.constant();
      if (value.type !== "keyword") {
        throw parsingError(
          option,
          `Invalid value for dissect append_separator: expected a string, but was [${"value" in value ? value.value : "null"}]`,
        );
      }
      separator = value.value;
      if (!this.#reader.take("symbol", ",")) break;
    }
    return { input, pattern, separator };
  }
}
