/**
 * Builds the statement layer by layer: each command wraps the layers before it, and columns have generated names in
 * SQL.
 */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Span } from "./errors.ts";
import type { Expression } from "./syntax.ts";
import type { Typed } from "./typed.ts";
import type { DataType } from "./types.ts";

/** A column that the query can name. */
export interface Column {
  name: string;
  type: DataType;
  multi: boolean;
  /** Generated name in SQL. */
  ref: string;
  /** Its expression, when that is constant. */
  constantExpression?: Expression | undefined;
}

/** A sort key: a column in SQL. */
interface OrderKey {
  ref: string;
  descending: boolean;
  nullsFirst: boolean;
}

/** Rows for which an expression fails, about which the vendor warns. */
export interface Check {
  /** The expression, for the warning. */
  at: Span;
  /** The value of such rows: `null`. */
  treatedAs: string;
  /** Statement without its WITH: one message a row, at most twenty. */
  body: Sql;
}

interface Added {
  ref: string;
  source: Sql;
}

interface Layer {
  render: () => Sql;
  /** Columns of a layer that only adds columns, so that more may join it; `undefined` for other layers. */
  added: Added[] | undefined;
}

/** Bounds the checks of a query: each scans the rows once more. */
const MAX_CHECKS = 32;
/** Bounds the columns of one layer. */
const MAX_SHARED = 64;

export class Pipeline {
  readonly #layers: Layer[] = [];
  readonly checks: Check[] = [];
  columns: Column[] = [];
  #columnCount = 0;
  #order: OrderKey[] = [];
  /** Columns that break ties of the order. */
  #tieBreaks: string[] = [];
  /** Whether rows are already in the order of the tie-break. */
  #inOrder = true;
  readonly #used = new Set<string>();
  /** Columns by the SQL that does nothing but read them. */
  readonly #refs = new WeakMap<Sql, string>();

  freshRef(): string {
    return `c${this.#columnCount++}`;
  }

  /** The SQL of a column. Columns that are never used are not selected. */
  use(ref: string): Sql {
    this.#used.add(ref);
    const column = identifier(ref);
    this.#refs.set(column, ref);
    return column;
  }

  /** The column that holds a value; a new one unless the value already is a column. */
  place(value: Sql): string {
    const held = this.#refs.get(value);
    if (held !== undefined) return held;
    const ref = this.freshRef();
    this.extend([{ ref, source: value }]);
    return ref;
  }

  /** Makes the first layer: the columns of events, limited to those that are used. */
  base(columns: readonly { column: Column; source: Sql }[], from: Sql, tieBreak: Sql | undefined): void {
    this.columns = columns.map(({ column }) => column);
    const selected = columns.map(({ column, source }) => ({ ref: column.ref, source }));
    if (tieBreak) {
      const ref = this.freshRef();
      this.#tieBreaks = [ref];
      selected.push({ ref, source: tieBreak });
    }
    this.#push(() => {
      const read = selected.filter(({ ref }) => this.#used.has(ref));
      const list = read.map(({ ref, source }) => sql`${source} AS ${identifier(ref)}`);
      return sql`SELECT ${list.length === 0 ? raw("1 AS nothing") : joined(list, ", ")} ${from}`;
    });
  }

  /**
   * Adds columns. Those that do not read each other share a layer, because every layer costs DuckDB a copy of each
   * column.
   */
  extend(added: readonly { ref: string; source: Sql }[]): void {
    const open = this.#layers.at(-1)?.added;
    if (open && open.length < MAX_SHARED && !added.some(({ source }) => readsAny(source, open))) {
      open.push(...added);
      return;
    }
    const previous = this.#previous();
    const columns = [...added];
    this.#push(() => {
      const list = columns.map(({ ref, source }) => sql`${source} AS ${identifier(ref)}`);
      return sql`SELECT *, ${joined(list, ", ")} FROM ${previous}`;
    }, columns);
  }

  where(predicate: Sql): void {
    const previous = this.#previous();
    this.#push(() => sql`SELECT * FROM ${previous} WHERE ${predicate}`);
  }

  /** Groups rows, in the order of each group's first row; without groups into a single row. Replaces all columns. */
  group(
    columns: readonly Column[],
    list: readonly { ref: string; source: Sql }[],
    groupRefs: readonly string[],
  ): void {
    const groups = groupRefs.map((ref) => this.use(ref));
    const previous = this.#previous();
    const selected = list.map(({ ref, source }) => sql`${source} AS ${identifier(ref)}`);
    // Without an aggregate, SELECT would yield a row for each input row.
    if (groups.length === 0) selected.push(sql`count(*) AS ${identifier(this.freshRef())}`);
    const grouping = groups.length === 0 ? raw("") : sql` GROUP BY ${joined(groups, ", ")}`;
    const [before] = this.#tieBreaks;
    this.#tieBreaks = [];
    if (groups.length > 0) {
      const first = before === undefined ? raw("min(0)") : sql`min(${this.use(before)})`;
      const ref = this.freshRef();
      this.#tieBreaks = [ref, ...groupRefs];
      selected.push(sql`${first} AS ${identifier(ref)}`);
    }
    this.#push(() => sql`SELECT ${joined(selected, ", ")} FROM ${previous}${grouping}`);
    this.#order = [];
    this.#inOrder = groups.length === 0;
    this.columns = [...columns];
  }

  /** Expands a list to one row per value, in order. @returns the column with the values */
  expand(list: Sql): string {
    const previous = this.#previous();
    const ref = this.freshRef();
    const place = this.freshRef();
    const values = sql`coalesce(${list}, [NULL])`;
    const places = sql`unnest(range(len(${values}))) AS ${identifier(place)}`;
    this.#push(() => sql`SELECT *, unnest(${values}) AS ${identifier(ref)}, ${places} FROM ${previous}`);
    this.#tieBreaks.push(place);
    return ref;
  }

  /** Sorts stably. */
  sort(keys: readonly OrderKey[]): void {
    const before = this.#order.filter(({ ref }) => !keys.some((key) => key.ref === ref));
    this.#order = [...keys, ...before];
    for (const { ref } of keys) this.#used.add(ref);
  }

  limit(count: number): void {
    const order = this.#orderBy();
    const previous = this.#previous();
    this.#push(() => sql`SELECT * FROM ${previous}${order} LIMIT ${raw(String(count))}`);
  }

  /** Adds a check. @param condition true for rows to warn about @param message SQL of a row's warning */
  check(at: Span, condition: Sql, message: Sql, treatedAs = "null"): void {
    if (this.checks.length >= MAX_CHECKS) return;
    const previous = this.#previous();
    this.checks.push({
      at,
      treatedAs,
      body: sql`SELECT DISTINCT ${message} AS message FROM ${previous} WHERE ${condition} LIMIT 20`,
    });
  }

  /** The statement for the given columns. */
  statement(columns: readonly Typed[], count: number): Sql {
    const list =
      columns.length === 0
        ? raw("1 AS nothing")
        : joined(
            columns.map((column) => column.sql),
            ", ",
          );
    const order = this.#orderBy();
    return sql`${this.#with()} SELECT ${list} FROM ${this.#previous()}${order} LIMIT ${raw(String(count))}`;
  }

  /** The statement of all checks, with columns `number` (of the check) and `message`. */
  checkStatement(): Sql {
    const parts = this.checks.map(
      ({ body }, index) => sql`SELECT ${raw(String(index))} AS number, message FROM (${body})`,
    );
    return sql`${this.#with()} SELECT number, message FROM (${joined(parts, " UNION ALL ")}) ORDER BY number, message`;
  }

  #push(render: () => Sql, added?: Added[]): void {
    this.#layers.push({ render, added });
  }

  #orderBy(): Sql {
    const keys = this.#order.map(
      ({ ref, descending, nullsFirst }) =>
        sql`${identifier(ref)} ${raw(descending ? "DESC" : "ASC")} NULLS ${raw(nullsFirst ? "FIRST" : "LAST")}`,
    );
    if (keys.length === 0 && this.#inOrder) return raw("");
    keys.push(...this.#tieBreaks.map((ref) => this.use(ref)));
    return keys.length === 0 ? raw("") : sql` ORDER BY ${joined(keys, ", ")}`;
  }

  #previous(): Sql {
    return raw(`l${this.#layers.length - 1}`);
  }

  #with(): Sql {
    const layers = this.#layers.map(
      (layer, index) => sql`l${raw(String(index))} AS NOT MATERIALIZED (${layer.render()})`,
    );
    return sql`WITH ${joined(layers, ", ")}`;
  }
}

/**
 * Whether a piece of SQL reads one of the columns. Searching the text is safe, because column names are generated.
 */
function readsAny({ texts }: Sql, columns: readonly Added[]): boolean {
  return columns.some(({ ref }) => texts.some((text) => text.includes(`"${ref}"`)));
}
