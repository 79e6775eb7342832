/** Postings that the program makes itself, a vector at a time. */
import { BIGINT, type DuckDBConnection, INTEGER, VARCHAR } from "@duckdb/node-api";
import { analyze } from "../text/analysis.ts";
import { appendColumns } from "./append.ts";
import type { ColumnValue } from "./column-value.ts";

/** How far the values of a list are apart: the vendor's `position_increment_gap`. */
export const VALUE_GAP = 100;

const types = [VARCHAR, BIGINT, INTEGER, INTEGER, INTEGER];

/** How much a field's text came to. */
export interface TokenCount {
  documents: number;
  tokens: number;
}

/** Postings of several fields, on their way into a table of written postings. */
export class PostingRows {
  readonly #fields: number[] = [];
  readonly #terms: string[] = [];
  readonly #rows: bigint[] = [];
  readonly #positions: number[] = [];
  readonly #frequencies: number[] = [];
  readonly #lengths: number[] = [];

  get size(): number {
    return this.#terms.length;
  }

  /** Adds the texts of one field, by number of row. */
  add(field: number, texts: Iterable<readonly [number, readonly ColumnValue[]]>): TokenCount {
    const count: TokenCount = { documents: 0, tokens: 0 };
    // Levels, hosts, names of services: the same few words again and again.
    const known = new Map<ColumnValue, Tokens>();
    for (const [row, values] of texts) {
      const tokens = tokensOf(values, known);
      if (tokens.length > 0) count.documents++;
      count.tokens += tokens.length;
      this.#addTokens(field, BigInt(row), tokens);
    }
    return count;
  }

  /** Appends them to a table of one field's postings. */
  async appendBuilt(connection: DuckDBConnection, table: string): Promise<void> {
    if (this.size > 0) await appendColumns(connection, table, types, this.#columns);
  }

  /** Appends them to a table of postings of all fields. */
  async appendWritten(connection: DuckDBConnection, table: string): Promise<void> {
    if (this.size === 0) return;
    await appendColumns(connection, table, [INTEGER, ...types], [this.#fields, ...this.#columns]);
  }

  get #columns() {
    return [this.#terms, this.#rows, this.#positions, this.#frequencies, this.#lengths];
  }

  #addTokens(field: number, row: bigint, tokens: Tokens): void {
    const firsts = new Map<string, number>();
    for (const { term, position } of tokens) {
      const first = firsts.get(term);
      if (first === undefined) firsts.set(term, this.size);
      else this.#frequencies[first] = (this.#frequencies[first] ?? 0) + 1;
      this.#frequencies.push(first === undefined ? 1 : 0);
      this.#fields.push(field);
      this.#terms.push(term);
      this.#rows.push(row);
      this.#positions.push(position);
      this.#lengths.push(tokens.length);
    }
  }
}

type Tokens = readonly { term: string; position: number }[];

/** Longest text, in UTF-16 units, and most texts whose tokens are kept. */
const KNOWN_LENGTH = 64;
const KNOWN_TEXTS = 1000;

/** The tokens of a field's values, each value `VALUE_GAP` positions after the one before. @param known texts analysed before */
export function tokensOf(values: readonly ColumnValue[], known = new Map<ColumnValue, Tokens>()): Tokens {
  const [only] = values;
  if (values.length === 1 && only !== undefined) {
    const before = known.get(only);
    if (before) return before;
    const text = String(only);
    const tokens = analyze(text);
    if (text.length <= KNOWN_LENGTH && known.size < KNOWN_TEXTS) known.set(only, tokens);
    return tokens;
  }
  const tokens: { term: string; position: number }[] = [];
  values.forEach((value, index) => {
    const before = tokens.length + VALUE_GAP * index;
    for (const { term, position } of analyze(String(value)))
      tokens.push({ term, position: position + before });
  });
  return tokens;
}
