/**
 * Compiles a tree of aggregations to one statement.
 *
 * Every bucket aggregation groups the documents of its parent's buckets by its keys, selects the groups that become buckets, and
 * numbers them. Metrics, single-bucket aggregations and plain conditions are columns of the enclosing grouping.
 */
import type { FieldCatalog } from "@offhook/log-store/fields";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Aggregation, Aggregations, BucketsAggregation, HitsAggregation } from "./aggregation.ts";
import { type BucketPath, bucketColumns, withBucketNumbers } from "./bucket-path.ts";
import {
  andBoth,
  columnsOnly,
  everyKey,
  type FilterColumns,
  filterClause,
  freePrefix,
  wantedKeys,
} from "./clauses.ts";
import type { Owner, Places } from "./places.ts";
import { selectBuckets } from "./selection.ts";

export interface AggregationStatement {
  /** `undefined` when no data is needed. */
  statement: Sql | undefined;
  root: Owner;
}

/** The rows that aggregations read, `rows AS d`, and how the rows identify their bucket. */
interface Scope {
  rows: Sql;
  path: BucketPath | undefined;
}

/** Conditions over `documents AS d`. */
interface Documents {
  /** Matches of the query, all inside the scope. */
  predicate: Sql;
  /** All searched documents, which a `global` aggregation covers. */
  scope: Sql;
  /** Columns for the conditions of filters. */
  filters: FilterColumns;
}

/** The documents of a tree of aggregations: the matches of the query, or the whole scope. */
interface Root {
  rows: Sql;
  predicate: Sql;
}

interface Deferred {
  aggregation: BucketsAggregation | HitsAggregation;
  condition: Sql | undefined;
  places: Places;
}

export function compileAggregations(
  aggregations: Aggregations,
  documents: Documents,
  fields: FieldCatalog,
): AggregationStatement {
  return new Compiler(documents, fields).compile(aggregations);
}

class Compiler {
  readonly #documents: Documents;
  readonly #prefix: string;
  readonly #roots: Root[] = [];
  readonly #tables: Sql[] = [];
  readonly #selects: Sql[] = [];
  #nodes = 0;

  constructor(documents: Documents, fields: FieldCatalog) {
    this.#documents = documents;
    this.#prefix = freePrefix(fields);
  }

  compile(aggregations: Aggregations): AggregationStatement {
    const root = this.#compileRoot(aggregations, this.#documents.predicate);
    if (this.#selects.length === 0) return { statement: undefined, root };
    const body = joined(this.#selects, "\nUNION ALL BY NAME\n");
    const tables = joined([...this.#rootTables(), ...this.#tables], ",\n");
    return { statement: sql`WITH ${tables}\n${body}`, root };
  }

  /** The tables of the roots. Where several selects read them, the filters' columns are materialized. */
  #rootTables(): Sql[] {
    const { predicate, scope, filters } = this.#documents;
    const table = (root: Root, select: Sql) => sql`${root.rows} AS NOT MATERIALIZED (${select})`;
    if (filters.isEmpty || this.#selects.length === 1) {
      return this.#roots.map((root) => table(root, filters.select(raw("d.*"), root.predicate)));
    }
    const widest = this.#roots.length === 1 ? predicate : scope;
    const found = identifier(`${this.#prefix}found`);
    const rows = (root: Root) =>
      sql`SELECT d.*, found.* EXCLUDE (_row) FROM documents AS d JOIN ${found} AS found USING (_row)
        ${root.predicate === widest ? raw("") : sql`WHERE ${root.predicate}`}`;
    return [
      sql`${found} AS MATERIALIZED (${filters.select(raw("d._row"), widest)})`,
      ...this.#roots.map((root) => table(root, rows(root))),
    ];
  }

  #compileRoot(aggregations: Aggregations, predicate: Sql, { mustCount = false } = {}): Owner {
    const node = this.#nodes++;
    const rows = identifier(`${this.#prefix}r${node}`);
    this.#roots.push({ rows, predicate });
    const scope: Scope = { rows, path: undefined };
    const { owner, columns, deferred } = this.#compileOwner(node, aggregations.aggregations);
    // Hits report their total.
    if (columns.length > 0 || mustCount || aggregations.aggregations.some(({ kind }) => kind === "hits")) {
      const counted = [
        raw(`${node} AS node`),
        raw("CAST(0 AS BIGINT) AS p"),
        raw("count(*) AS n"),
        ...columns,
      ];
      this.#selects.push(sql`SELECT ${joined(counted, ", ")} FROM ${scope.rows} AS d`);
    }
    for (const later of deferred) this.#compileDeferred(later, scope);
    return owner;
  }

  /** The columns of an owner, and the aggregations that need a grouping of their own. */
  #compileOwner(node: number, aggregations: readonly Aggregation[]) {
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
    const visitAll = (children: readonly Aggregation[], condition: Sql | undefined, places: Places) => {
      for (const child of children) visit(child, condition, places);
    };
    const visit = (aggregation: Aggregation, condition: Sql | undefined, places: Places) => {
      if (aggregation.kind === "metric") {
        const expressions = aggregation.columns(filterClause(condition));
        places.set(aggregation, { kind: "metric", first: add(expressions), count: expressions.length });
      } else if (aggregation.kind === "single" && aggregation.condition === undefined) {
        const owner = this.#compileRoot(aggregation.children, this.#documents.scope, { mustCount: true });
        places.set(aggregation, { kind: "global", owner });
      } else if (aggregation.kind === "single") {
        const inner = andBoth(condition, aggregation.condition);
        places.set(aggregation, { kind: "single", first: add([sql`count(*)${filterClause(inner)}`]) });
        visitAll(aggregation.children.aggregations, inner, places);
      } else if (aggregation.kind === "buckets" && aggregation.conditions && columnsOnly(aggregation)) {
        const buckets = aggregation.conditions.map((one) => {
          const inner = andBoth(condition, one);
          const bucket = { first: add([sql`count(*)${filterClause(inner)}`]), places: new Map() as Places };
          visitAll(aggregation.children.aggregations, inner, bucket.places);
          return bucket;
        });
        places.set(aggregation, { kind: "conditions", buckets });
      } else {
        deferred.push({ aggregation, condition, places });
      }
    };
    visitAll(aggregations, undefined, owner.places);
    return { owner, columns, deferred };
  }

  #compileDeferred({ aggregation, condition, places }: Deferred, scope: Scope): void {
    if (aggregation.kind === "hits") {
      places.set(aggregation, { kind: "hits", node: this.#compileHits(aggregation, scope, condition) });
    } else {
      places.set(aggregation, {
        kind: "buckets",
        owner: this.#compileBuckets(aggregation, scope, condition),
      });
    }
  }

  #compileBuckets(aggregation: BucketsAggregation, scope: Scope, condition: Sql | undefined): Owner {
    const node = this.#nodes++;
    const rowKeys = aggregation.keys.map((_, index) => raw(`${this.#prefix}k${node}_${index}`));
    const keys = aggregation.keys.map((_, index) => raw(`k${node}_${index}`));
    const keyed = this.#rowsWithKeys(node, aggregation, rowKeys, scope, condition);
    const { owner, columns, deferred } = this.#compileOwner(node, aggregation.children.aggregations);
    const groups = this.#groups(node, aggregation, keyed, rowKeys, keys, columns, owner, scope);
    const selected = this.#table(
      "s",
      node,
      deferred.length > 0 ? "MATERIALIZED" : "",
      selectBuckets(aggregation, groups, keys, owner, { nested: scope.path !== undefined }),
    );
    this.#selects.push(sql`SELECT ${raw(String(node))} AS node, * FROM ${selected}`);
    if (deferred.length > 0) {
      const inside = this.#rowsInBuckets(node, aggregation, keyed, rowKeys, keys, selected, scope);
      for (const later of deferred) this.#compileDeferred(later, inside);
    }
    return owner;
  }

  /** The documents with their keys, a row for each key. */
  #rowsWithKeys(
    node: number,
    aggregation: BucketsAggregation,
    rowKeys: readonly Sql[],
    scope: Scope,
    condition: Sql | undefined,
  ): Sql {
    let rows = scope.rows;
    aggregation.keys.forEach((key, index) => {
      const name = rowKeys[index] ?? raw("");
      const value = key.list ? sql`unnest(${key.value})` : key.value;
      const where = index === 0 && condition ? sql` WHERE ${condition}` : raw("");
      const inner = sql`SELECT d.*, ${value} AS ${name} FROM ${rows} AS d${where}`;
      const wanted = wantedKeys(aggregation, sql`d.${name}`);
      const whole = wanted ? sql`SELECT d.* FROM (${inner}) AS d WHERE ${wanted}` : inner;
      rows = this.#table(`x${index}_`, node, "NOT MATERIALIZED", whole);
    });
    return rows;
  }

  /** A row for each key of each parent: `p` if there is a parent, keys, `n`, columns. */
  #groups(
    node: number,
    aggregation: BucketsAggregation,
    keyed: Sql,
    rowKeys: readonly Sql[],
    keys: readonly Sql[],
    columns: readonly Sql[],
    owner: Owner,
    { path }: Scope,
  ): Sql {
    const ownKeys = rowKeys.map((name, index) => sql`d.${name} AS ${keys[index] ?? name}`);
    const parents = path ? bucketColumns(path).map((column) => sql`d.${column} AS ${column}`) : [];
    const grouped = this.#table(
      "g",
      node,
      "",
      sql`SELECT ${joined([...parents, ...ownKeys, raw("count(*) AS n"), ...columns], ", ")} FROM ${keyed} AS d GROUP BY ALL`,
    );
    const others = [...keys, raw("n"), ...owner.columns.map((name) => raw(name))];
    const numbered = path ? this.#table("t", node, "", withBucketNumbers(path, grouped, others)) : grouped;
    return this.#addEmptyKeys(node, aggregation, numbered, keys, owner, path);
  }

  /** Adds the keys that become empty buckets. */
  #addEmptyKeys(
    node: number,
    aggregation: BucketsAggregation,
    groups: Sql,
    keys: readonly Sql[],
    owner: Owner,
    path: BucketPath | undefined,
  ): Sql {
    const [key] = aggregation.keys;
    const [k] = keys;
    const keysOfAll = key && k && everyKey(aggregation, key, k);
    if (!keysOfAll) return groups;
    const every = this.#table("e", node, "", keysOfAll);
    const parents = path ? sql`${path.buckets} AS a CROSS JOIN ` : raw("");
    const names = [
      ...(path ? [raw("a.b AS p")] : []),
      sql`e.${k} AS ${k}`,
      raw("coalesce(g.n, 0) AS n"),
      ...owner.columns.map((name) => raw(`g.${name}`)),
    ];
    const match = path ? sql`g.${k} = e.${k} AND g.p = a.b` : sql`g.${k} = e.${k}`;
    return this.#table(
      "f",
      node,
      "",
      sql`SELECT ${joined(names, ", ")} FROM ${parents}${every} AS e LEFT JOIN ${groups} AS g ON ${match}`,
    );
  }

  /**
   * The documents inside the buckets. If every group is a bucket, their keys identify it; otherwise the documents of dropped groups
   * are removed, and the bucket number identifies it.
   */
  #rowsInBuckets(
    node: number,
    { keys: columns, selection }: BucketsAggregation,
    keyed: Sql,
    rowKeys: readonly Sql[],
    keys: readonly Sql[],
    selected: Sql,
    { path }: Scope,
  ): Scope {
    const level = {
      selected,
      keys: rowKeys.map((column, index) => ({
        column,
        key: keys[index] ?? column,
        nullable: columns[index]?.nullable ?? false,
      })),
    };
    const byKey: BucketPath = {
      base: path?.base,
      levels: [...(path?.levels ?? []), level],
      buckets: selected,
    };
    if (selection.kind === "all") return { rows: keyed, path: byKey };
    const bucket = raw(`${this.#prefix}b${node}`);
    const rows = this.#table(
      "r",
      node,
      "NOT MATERIALIZED",
      withBucketNumbers(byKey, keyed, [raw("*")], bucket),
    );
    return { rows, path: { base: bucket, levels: [], buckets: selected } };
  }

  #compileHits(
    { from, size, plan }: HitsAggregation,
    { rows, path }: Scope,
    condition: Sql | undefined,
  ): number {
    const node = this.#nodes++;
    const where = condition ? sql` WHERE ${condition}` : raw("");
    const columns = path ? bucketColumns(path) : [];
    const partition = columns.length === 0 ? raw("") : sql`PARTITION BY ${joined(columns, ", ")} `;
    // Sort keys can contain window functions, which cannot nest inside another window's ORDER BY.
    const picked = [
      ...columns.map((column) => sql`d.${column} AS ${column}`),
      ...plan.order.map(({ value }, index) => sql`${value} AS ${orderColumn(index)}`),
      raw("d._row AS hit"),
    ];
    const order = [
      ...plan.order.map(({ direction }, index) => sql`${orderColumn(index)} ${direction}`),
      raw("hit"),
    ];
    const ranked = this.#table(
      "h",
      node,
      "",
      sql`SELECT * FROM (SELECT *, row_number() OVER (${partition}ORDER BY ${joined(order, ", ")}) AS b
          FROM (SELECT ${joined(picked, ", ")} FROM ${rows} AS d${where})) WHERE b > ${BigInt(from)} AND b <= ${BigInt(from + size)}`,
    );
    const shown = path
      ? withBucketNumbers(path, ranked, [raw("b"), raw("hit")])
      : sql`SELECT CAST(0 AS BIGINT) AS p, b, hit FROM ${ranked}`;
    this.#selects.push(sql`SELECT ${raw(String(node))} AS node, * FROM (${shown})`);
    return node;
  }

  #table(letter: string, node: number, how: "" | "MATERIALIZED" | "NOT MATERIALIZED", select: Sql): Sql {
    const name = identifier(`${this.#prefix}${letter}${node}`);
    this.#tables.push(sql`${name} AS ${raw(how)} (${select})`);
    return name;
  }
}

function orderColumn(index: number): Sql {
  return identifier(`o${index}`);
}
