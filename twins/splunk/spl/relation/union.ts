/** Unions of relations. */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { limit, withRowNumber } from "./order.ts";
import type { OrderKey } from "./order-keys.ts";
import { columnOf, fieldValue, noRows, type Relation, uniqueColumnNames } from "./relation.ts";
import { numberOf, widen } from "./typed.ts";

/** Appends relations. A field that one part lacks is NULL in its rows. */
export function concat(...parts: readonly Relation[]): Relation {
  const all = union(parts, () => []);
  // Each part keeps its own order, so the first n rows of all are among the first n of each part.
  const rows = (count: number) =>
    union(
      parts.map((part) => limit(part, count)),
      () => [],
    );
  return { ...all, topN: { of: all.select, rows } };
}

/** Merges relations by `_time`, newest first; rows without a time come last. */
export function mergeByTime(...parts: readonly Relation[]): Relation {
  return union(parts, (part) => {
    const time = columnOf(part, "_time");
    return [{ value: time === undefined ? raw("NULL") : numberOf(fieldValue(time)), direction: "DESC" }];
  });
}

/** Most order keys of all parts together. Beyond, each part gets a row number as its only key. */
const MAX_ORDER_KEYS = 12;

/** UNION ALL of relations, ordered by the leading keys, then part by part. */
function union(
  given: readonly Relation[],
  leading: (part: Relation) => { value: Sql; direction: OrderKey["direction"] }[],
): Relation {
  const known = given.filter(({ columns }) => columns.length > 0);
  const crowded = known.reduce((sum, { order }) => sum + order.length, 0) > MAX_ORDER_KEYS;
  const parts = crowded ? known.map((part) => (part.order.length > 1 ? withRowNumber(part) : part)) : known;
  const [first] = parts;
  if (first === undefined) return given[0] ?? noRows;
  const shapes = [...new Set(parts.flatMap(({ columns }) => columns.map(({ name }) => name)))].map((name) => {
    const all = parts.map((part) => columnOf(part, name)).filter((column) => column !== undefined);
    const type = all.every((column) => column.type === "number") ? "number" : "text";
    return { name, type, multi: all.some(({ multi }) => multi) } as const;
  });
  const columns = uniqueColumnNames(shapes.map(({ name }) => name));
  const lead = leading(first).map(({ direction }) => direction);
  const directions: OrderKey["direction"][] = [
    ...lead,
    "ASC",
    ...parts.flatMap(({ order }) => order.map(({ direction }) => direction)),
  ];
  const side = (part: Relation, number: number): Sql => {
    const items = shapes.map(({ name, type, multi }, index) => {
      const column = columnOf(part, name);
      const value = column === undefined ? raw("NULL") : widen(fieldValue(column), { type, multi });
      return { column: columns[index] ?? "", value };
    });
    // A part has NULL for the keys of the others, so its own keys decide within it.
    const keys = [
      ...leading(part).map(({ value }) => value),
      raw(String(number)),
      ...parts.flatMap(({ order }, other) =>
        order.map(({ column }) => (other === number ? identifier(column) : raw("NULL"))),
      ),
    ].map((value, index) => sql`${value} AS ${identifier(`#order${index}`)}`);
    return sql`SELECT ${prunableColumns(items, keys)} FROM (${part.select}) AS r`;
  };
  return {
    select: joined(parts.map(side), " UNION ALL "),
    columns: shapes.map((shape, index) => ({ ...shape, column: columns[index] ?? "" })),
    order: directions.map((direction, index) => ({ column: `#order${index}`, direction })),
    kind: first.kind,
    ...(first.range === undefined ? {} : { range: first.range }),
  };
}
