/**
 * One statement for a whole tree of aggregations.
 *
 * Every bucket aggregation groups the documents of its parent's buckets by its key, picks the groups that become buckets and
 * numbers them; the documents of those, with the number of their bucket, are what its sub-aggregations work on. Metrics and
 * single-bucket aggregations are columns of the grouping they stand in.
 */
import type { FieldCatalog } from "../../datasets/fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../../datasets/sql.ts";
import type {
  Aggregation,
  Aggregations,
  BucketsAggregation,
  HitsAggregation,
  KeyColumn,
} from "./aggregation.ts";
import { MAX_BUCKETS } from "./errors.ts";
import { orderSql } from "./order.ts";

/** Where the answer of an aggregation is in the rows of the statement. */
export type Place =
  | { kind: "metric"; first: number; count: number }
  | { kind: "single"; first: number }
  | { kind: "global"; owner: Owner }
  | { kind: "buckets"; owner: Owner }
  | { kind: "hits"; node: number };

/** What has documents: the whole result, or each bucket of an aggregation. */
export interface Owner {
  node: number;
  /** Names of its columns in the rows. */
  columns: string[];
  places: Places;
}

export type Places = Map<Aggregation, Place>;

export interface AggregationStatement {
  /** `undefined` when nothing is asked of the store. */
  statement: Sql | undefined;
  root: Owner;
}

/** Rows that aggregations work on: `rows AS d`, and the number of the bucket each is in. */
interface Scope {
  rows: Sql;
  bucket: Sql | undefined;
}

interface Deferred {
  aggregation: BucketsAggregation | HitsAggregation;
  condition: Sql | undefined;
  places: Places;
}

export function compileAggregations(
  aggregations: Aggregations,
  predicate: Sql,
  fields: FieldCatalog,
): AggregationStatement {
  return new Compiler(fields).compile(aggregations, predicate);
}

class Compiler {
  readonly #prefix: string;
  readonly #tables: Sql[] = [];
  readonly #selects: Sql[] = [];
  #nodes = 0;

  constructor(fields: FieldCatalog) {
    this.#prefix = freePrefix(fields);
  }

  compile(aggregations: Aggregations, predicate: Sql): AggregationStatement {
    const root = this.#root(aggregations, sql`SELECT d.* FROM documents AS d WHERE ${predicate}`);
    if (this.#selects.length === 0) return { statement: undefined, root };
    const body = joined(this.#selects, "\nUNION ALL BY NAME\n");
    const tables = this.#tables.length === 0 ? raw("") : sql`WITH ${joined(this.#tables, ",\n")}\n`;
    return { statement: sql`${tables}${body}`, root };
  }

  #root(aggregations: Aggregations, rows: Sql, mustCount = false): Owner {
    const node = this.#nodes++;
    const scope: Scope = { rows: this.#table("r", node, "NOT MATERIALIZED", rows), bucket: undefined };
    const { owner, columns, deferred } = this.#owner(node, aggregations.aggregations);
    const counted = [raw(`${node} AS node`), raw("CAST(0 AS BIGINT) AS p"), raw("count(*) AS n"), ...columns];
    if (columns.length > 0 || mustCount) {
      this.#selects.push(sql`SELECT ${joined(counted, ", ")} FROM ${scope.rows} AS d`);
    }
    for (const later of deferred) this.#deferred(later, scope);
    return owner;
  }

  /** The columns of an owner, and what needs a grouping of its own. */
  #owner(node: number, aggregations: readonly Aggregation[]) {
    const owner: Owner = { node, columns: [], places: new Map() };
    const columns: Sql[] = [];
    const deferred: Deferred[] = [];
    const add = (expressions: readonly Sql[]) => {
      const first = columns.length;
      for (const expression of expressions) {
        const name = `c${node}_${columns.length}`;
        owner.columns.push(name);
        columns.push(sql`${expression} AS ${raw(name)}`);
      }
      return first;
    };
    const visit = (children: readonly Aggregation[], condition: Sql | undefined) => {
      for (const aggregation of children) {
        if (aggregation.kind === "metric") {
          const expressions = aggregation.columns(filtered(condition));
          owner.places.set(aggregation, {
            kind: "metric",
            first: add(expressions),
            count: expressions.length,
          });
        } else if (aggregation.kind !== "single") {
          deferred.push({ aggregation, condition, places: owner.places });
        } else if (aggregation.condition === undefined) {
          const everything = raw("SELECT d.* FROM documents AS d");
          owner.places.set(aggregation, {
            kind: "global",
            owner: this.#root(aggregation.children, everything, true),
          });
        } else {
          const inner = condition ? sql`${condition} AND ${aggregation.condition}` : aggregation.condition;
          owner.places.set(aggregation, { kind: "single", first: add([sql`count(*)${filtered(inner)}`]) });
          visit(aggregation.children.aggregations, inner);
        }
      }
    };
    visit(aggregations, undefined);
    return { owner, columns, deferred };
  }

  #deferred({ aggregation, condition, places }: Deferred, scope: Scope): void {
    if (aggregation.kind === "hits") {
      places.set(aggregation, { kind: "hits", node: this.#hits(aggregation, scope, condition) });
    } else {
      places.set(aggregation, { kind: "buckets", owner: this.#buckets(aggregation, scope, condition) });
    }
  }

  #buckets(aggregation: BucketsAggregation, scope: Scope, condition: Sql | undefined): Owner {
    const node = this.#nodes++;
    const names = aggregation.keys.map((_, index) => `${this.#prefix}k${node}_${index}`);
    const keyed = this.#keyed(node, aggregation, names, scope, condition);
    const { owner, columns, deferred } = this.#owner(node, aggregation.children.aggregations);
    const keys = names.map((name, index) => sql`d.${raw(name)} AS k${raw(`${node}_${index}`)}`);
    const parent = scope.bucket ? [sql`d.${scope.bucket} AS p`] : [];
    const grouped = this.#table(
      "g",
      node,
      "",
      sql`SELECT ${joined([...parent, ...keys, raw("count(*) AS n"), ...columns], ", ")} FROM ${keyed} AS d GROUP BY ALL`,
    );
    const groups = this.#withEveryKey(node, aggregation, grouped, scope, owner.columns);
    const selected = this.#table(
      "s",
      node,
      deferred.length > 0 ? "MATERIALIZED" : "",
      this.#selection(aggregation, groups, node, owner, scope.bucket !== undefined),
    );
    this.#selects.push(sql`SELECT ${raw(String(node))} AS node, * FROM ${selected}`);
    if (deferred.length === 0) return owner;
    const bucket = raw(`${this.#prefix}b${node}`);
    const matches = names.map((name, index) => {
      const equal = aggregation.keys[index]?.nullable ? raw("IS NOT DISTINCT FROM") : raw("=");
      return sql`d.${raw(name)} ${equal} s.k${raw(`${node}_${index}`)}`;
    });
    if (scope.bucket) matches.push(sql`d.${scope.bucket} = s.p`);
    const rows = this.#table(
      "r",
      node,
      "NOT MATERIALIZED",
      sql`SELECT d.*, s.b AS ${bucket} FROM ${keyed} AS d JOIN ${selected} AS s ON ${joined(matches, " AND ")}`,
    );
    for (const later of deferred) this.#deferred(later, { rows, bucket });
    return owner;
  }

  /** The documents with their keys; one row a key. */
  #keyed(
    node: number,
    aggregation: BucketsAggregation,
    names: readonly string[],
    scope: Scope,
    condition: Sql | undefined,
  ): Sql {
    let rows = scope.rows;
    aggregation.keys.forEach((key, index) => {
      const name = raw(names[index] ?? "");
      const value = key.list ? sql`unnest(${key.value})` : key.value;
      const where = index === 0 && condition ? sql` WHERE ${condition}` : raw("");
      const inner = sql`SELECT d.*, ${value} AS ${name} FROM ${rows} AS d${where}`;
      const wanted = wantedKeys(aggregation, key, sql`d.${name}`);
      const whole = wanted ? sql`SELECT d.* FROM (${inner}) AS d WHERE ${wanted}` : inner;
      rows = this.#table(`x${index}_`, node, "NOT MATERIALIZED", whole);
    });
    return rows;
  }

  /** With the keys that none of the parent's documents has. */
  #withEveryKey(
    node: number,
    aggregation: BucketsAggregation,
    grouped: Sql,
    scope: Scope,
    columns: string[],
  ): Sql {
    const [key] = aggregation.keys;
    if (aggregation.selection.kind !== "top" || !aggregation.selection.everyKey || !key) return grouped;
    const k = raw(`k${node}_0`);
    const value = key.list ? sql`unnest(${key.value})` : key.value;
    const wanted = wantedKeys(aggregation, key, raw("e.k")) ?? raw("TRUE");
    const every = this.#table(
      "e",
      node,
      "",
      sql`SELECT DISTINCT e.k AS ${k} FROM (SELECT ${value} AS k FROM documents AS d) AS e WHERE ${wanted}`,
    );
    const { bucket, rows } = scope;
    const parents = bucket
      ? sql`(SELECT DISTINCT d.${bucket} AS p FROM ${rows} AS d) AS a CROSS JOIN `
      : raw("");
    const names = [
      ...(bucket ? [raw("a.p AS p")] : []),
      sql`e.${k} AS ${k}`,
      raw("coalesce(g.n, 0) AS n"),
      ...columns.map((name) => raw(`g.${name}`)),
    ];
    const match = bucket ? sql`g.${k} = e.${k} AND g.p = a.p` : sql`g.${k} = e.${k}`;
    return this.#table(
      "f",
      node,
      "",
      sql`SELECT ${joined(names, ", ")} FROM ${parents}${every} AS e LEFT JOIN ${grouped} AS g ON ${match}`,
    );
  }

  #selection(
    { selection, keys, children }: BucketsAggregation,
    groups: Sql,
    node: number,
    owner: Owner,
    nested: boolean,
  ): Sql {
    const names = keys.map((_, index) => raw(`k${node}_${index}`));
    const p = nested ? raw("") : raw("CAST(0 AS BIGINT) AS p, ");
    if (selection.kind === "all") {
      const order = joined(nested ? [raw("p"), ...names] : names, ", ");
      return sql`SELECT ${p}row_number() OVER (ORDER BY ${order}) AS b, * FROM ${groups} LIMIT ${raw(String(MAX_BUCKETS + 1))}`;
    }
    const order =
      selection.kind === "top"
        ? orderSql(selection.order, names[0] ?? raw("n"), children.aggregations, owner)
        : joined(
            selection.orders.map(
              ({ order, missing }, index) =>
                sql`${names[index] ?? raw("n")} ${raw(order)} NULLS ${raw(missing)}`,
            ),
            ", ",
          );
    const kept =
      selection.kind === "top"
        ? sql`n >= CAST(${BigInt(selection.minDocCount)} AS BIGINT)`
        : (selection.after?.(names) ?? raw("TRUE"));
    const size = sql`CAST(${BigInt(Math.min(selection.size, MAX_BUCKETS + 1))} AS BIGINT)`;
    if (!nested) {
      return sql`SELECT row_number() OVER (ORDER BY ${order}) AS b, * FROM (
          SELECT ${p}*, CAST(sum(n) OVER () AS BIGINT) AS total, count(*) OVER () AS groups
          FROM ${groups} WHERE ${kept} ORDER BY ${order} LIMIT ${size})`;
    }
    return sql`SELECT row_number() OVER (ORDER BY p, place) AS b, * FROM (
        SELECT *, CAST(sum(n) OVER (PARTITION BY p) AS BIGINT) AS total, count(*) OVER (PARTITION BY p) AS groups,
               row_number() OVER (PARTITION BY p ORDER BY ${order}) AS place
        FROM ${groups} WHERE ${kept}) WHERE place <= ${size} LIMIT ${raw(String(MAX_BUCKETS + 1))}`;
  }

  #hits({ from, size, plan }: HitsAggregation, scope: Scope, condition: Sql | undefined): number {
    const node = this.#nodes++;
    const p = scope.bucket ? sql`d.${scope.bucket}` : raw("CAST(0 AS BIGINT)");
    const where = condition ? sql` WHERE ${condition}` : raw("");
    this.#selects.push(
      sql`SELECT ${raw(String(node))} AS node, p, b, hit FROM (
          SELECT ${p} AS p, d._row AS hit, row_number() OVER (PARTITION BY ${p} ORDER BY ${plan.orderBy}) AS b
          FROM ${scope.rows} AS d${where}) WHERE b > ${raw(String(from))} AND b <= ${raw(String(from + size))}`,
    );
    return node;
  }

  #table(letter: string, node: number, how: "" | "MATERIALIZED" | "NOT MATERIALIZED", select: Sql): Sql {
    const name = identifier(`${this.#prefix}${letter}${node}`);
    this.#tables.push(sql`${name} AS ${raw(how)} (${select})`);
    return name;
  }
}

function filtered(condition: Sql | undefined): Sql {
  return condition ? sql` FILTER (WHERE ${condition})` : raw("");
}

function wantedKeys({ selection }: BucketsAggregation, key: KeyColumn, value: Sql): Sql | undefined {
  const conditions: Sql[] = [];
  if (!key.nullable) conditions.push(sql`${value} IS NOT NULL`);
  if (selection.kind === "top" && selection.wanted) conditions.push(selection.wanted(value));
  return conditions.length === 0 ? undefined : joined(conditions, " AND ");
}

/** What no column of the documents begins with. */
function freePrefix(fields: FieldCatalog): string {
  let prefix = "agg_";
  while (fields.all().some(({ column }) => column.toLowerCase().startsWith(prefix))) prefix = `_${prefix}`;
  return prefix;
}
