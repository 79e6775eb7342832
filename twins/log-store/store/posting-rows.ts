/** Postings computed by this program rather than by DuckDB, appended a vector at a time. */
import { BIGINT, type DuckDBConnection, INTEGER, VARCHAR } from "@duckdb/node-api";
import { analyze } from "../text/analysis.ts";
import { appendColumns } from "./append.ts";
import type { ColumnValue } from "./column-value.ts";

/** Positions between two values of a list: the vendor's `position_increment_gap`. */
export const VALUE_GAP = 100;

const types = [VARCHAR, BIGINT, INTEGER, INTEGER, INTEGER];

/** Counts of a field, for its statistics. */
export interface TokenCount {
  documents: number;
  tokens: number;
}

/** Collects the postings of several fields. */
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

  /** Adds the texts of one field, with their row numbers. */
  add(field: number, texts: Iterable<readonly [number, readonly ColumnValue[]]>): TokenCount {
    const count: TokenCount = { documents: 0, tokens: 0 };
    // Log levels, hosts and service names repeat.
    const cache = new Map<ColumnValue, Tokens>();
    for (const [row, values] of texts) {
      const tokens = tokensOf(values, cache);
      if (tokens.length > 0) count.documents++;
      count.tokens += tokens.length;
      this.#addTokens(field, BigInt(row), tokens);
    }
    return count;
  }

  /** Appends the postings to a table of one field. */
  async appendBuilt(connection: DuckDBConnection, table: string): Promise<void> {
    if (this.size > 0) await appendColumns(connection, table, types, this.#columns);
  }

  /** Appends the postings to a table of all fields. */
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

/** Bounds of the token cache: UTF-16 units of a text, and texts. */
const MAX_CACHED_LENGTH = 64;
const MAX_CACHED_TEXTS = 1000;

/** The tokens of a field's values, each value `VALUE_GAP` positions after the one before. @param cache tokens of short texts */
export function tokensOf(values: readonly ColumnValue[], cache = new Map<ColumnValue, Tokens>()): Tokens {
  const [only] = values;
  if (values.length === 1 && only !== undefined) {
    const before = cache.get(only);
    if (before) return before;
    const text = String(only);
    const tokens = analyze(text);
    if (text.length <= MAX_CACHED_LENGTH && cache.size < MAX_CACHED_TEXTS) cache.set(only, tokens);
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
