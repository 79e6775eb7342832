/** The statement as it grows: every command puts a layer on the one before, and columns have names of their own in SQL. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Span } from "./errors.ts";
import type { Expression } from "./syntax.ts";
import type { Typed } from "./typed.ts";
import type { DataType } from "./types.ts";

/** A column a query can name. */
export interface Column {
  name: string;
  type: DataType;
  multi: boolean;
  /** Its name in SQL. */
  ref: string;
  /** What it was made of when that reads no row: an expression without columns. */
  madeOf?: Expression | undefined;
}

/** How rows are ordered: by a column of SQL. */
interface OrderKey {
  ref: string;
  descending: boolean;
  nullsFirst: boolean;
}

/** Rows for which an expression has no value though the vendor would warn. */
export interface Check {
  /** Text of the expression it is about, for the warning. */
  at: Span;
  /** What such a row's value is instead: `null`. */
  treatedAs: string;
  /** Statement without its WITH: at most twenty messages, one a row. */
  body: Sql;
}

interface Added {
  ref: string;
  source: Sql;
}

interface Layer {
  render: () => Sql;
  /** Columns it adds, when that is all it does; more may join them. */
  added: Added[] | undefined;
}

/** How many expressions of a query are looked at for warnings: each costs a look at the rows. */
const MAX_CHECKS = 32;
/** How many columns share a layer. */
const MAX_SHARED = 64;

export class Pipeline {
  readonly #layers: Layer[] = [];
  readonly checks: Check[] = [];
  columns: Column[] = [];
  #columnCount = 0;
  #order: OrderKey[] = [];
  /** Decide between rows that the order leaves equal. */
  #tieBreaks: string[] = [];
  /** Rows come in the order of the tie-break by themselves. */
  #inOrder = true;
  readonly #used = new Set<string>();
  /** Which column a piece of SQL is nothing but. */
  readonly #refs = new WeakMap<Sql, string>();

  freshRef(): string {
    return `c${this.#columnCount++}`;
  }

  /** A column's SQL; what is never read is not selected. */
  use(ref: string): Sql {
    this.#used.add(ref);
    const column = identifier(ref);
    this.#refs.set(column, ref);
    return column;
  }

  /** The column that holds a value; a new one when it is not one already. */
  place(value: Sql): string {
    const held = this.#refs.get(value);
    if (held !== undefined) return held;
    const ref = this.freshRef();
    this.extend([{ ref, source: value }]);
    return ref;
  }

  /** The first layer: columns of the events. Only those that are read are selected. */
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
   * Adds columns beside those there are. Columns that do not read each other share a layer: every layer costs DuckDB a vector of each
   * column.
   */
  extend(added: readonly { ref: string; source: Sql }[]): void {
    const open = this.#layers.at(-1)?.added;
    if (open && open.length < MAX_SHARED && !added.some(({ source }) => reads(source, open))) {
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

  /** One row a group, in the order of their first rows; without groups one row of all. Takes the place of all columns. */
  group(
    columns: readonly Column[],
    list: readonly { ref: string; source: Sql }[],
    groupRefs: readonly string[],
  ): void {
    const groups = groupRefs.map((ref) => this.use(ref));
    const previous = this.#previous();
    const selected = list.map(({ ref, source }) => sql`${source} AS ${identifier(ref)}`);
    // Constants alone would be a row for each row.
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

  /** One row for each value of a list, in their order. @returns the column with the values. */
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

  /** Rows that it leaves equal stay in the order they were in. */
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

  /** @param condition true for the rows to warn about. @param message of a row. */
  check(at: Span, condition: Sql, message: Sql, treatedAs = "null"): void {
    if (this.checks.length >= MAX_CHECKS) return;
    const previous = this.#previous();
    this.checks.push({
      at,
      treatedAs,
      body: sql`SELECT DISTINCT ${message} AS message FROM ${previous} WHERE ${condition} LIMIT 20`,
    });
  }

  /** The statement that yields the given columns. */
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

  /** The statement that yields `number` of a check and `message`, for all checks. */
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

/** Whether a piece of SQL reads one of the columns. Names of columns in SQL are this program's own. */
function reads({ texts }: Sql, columns: readonly Added[]): boolean {
  return columns.some(({ ref }) => texts.some((text) => text.includes(`"${ref}"`)));
}
