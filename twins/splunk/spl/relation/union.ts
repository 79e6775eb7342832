/** Rows of several relations as those of one. */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { limit, withRowNumber } from "./order.ts";
import type { OrderKey } from "./order-keys.ts";
import { columnOf, fieldValue, noRows, type Relation, uniqueColumnNames } from "./relation.ts";
import { numberOf, widen } from "./typed.ts";

/** Rows of one after those of the other. A field that only one of them has is missing in the other's rows. */
export function concat(...parts: readonly Relation[]): Relation {
  const all = union(parts, () => []);
  // No row of one is before another of the same that it comes after there.
  const rows = (count: number) =>
    union(
      parts.map((part) => limit(part, count)),
      () => [],
    );
  return { ...all, topN: { of: all.select, rows } };
}

/** Rows of all of these, the newest first; those without a time come last. */
export function mergeByTime(...parts: readonly Relation[]): Relation {
  return union(parts, (part) => {
    const time = columnOf(part, "_time");
    return [{ value: time === undefined ? raw("NULL") : numberOf(fieldValue(time)), direction: "DESC" }];
  });
}

/** Order keys that relations bring with them. Beyond these they are numbered instead. */
const MAX_ORDER_KEYS = 12;

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
      const value = column === undefined ? raw("NULL") : widen(fieldValue(column), type, multi);
      return { column: columns[index] ?? "", value };
    });
    // Within a part its own keys decide: those of the others are missing there.
    const keys = [
      ...leading(part).map(({ value }) => value),
      raw(String(number)),
      ...parts.flatMap(({ order }, other) =>
        order.map(({ column }) => (other === number ? identifier(column) : raw("NULL"))),
      ),
    ].map((value, index) => sql`${value} AS ${identifier(`#order${index}`)}`);
    return sql`SELECT ${columnsIfRead(items, keys)} FROM (${part.select}) AS r`;
  };
  return {
    select: joined(parts.map(side), " UNION ALL "),
    columns: shapes.map((shape, index) => ({ ...shape, column: columns[index] ?? "" })),
    order: directions.map((direction, index) => ({ column: `#order${index}`, direction })),
    kind: first.kind,
    ...(first.range === undefined ? {} : { range: first.range }),
  };
}
