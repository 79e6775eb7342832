/** Rows of several relations as those of one. */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { limited, numbered } from "./order.ts";
import type { OrderKey } from "./order-keys.ts";
import { columnOf, fieldValue, noRows, placed, type Relation } from "./relation.ts";
import { numberOf, shaped } from "./typed.ts";

/** Rows of one after those of the other. A field that only one of them has is missing in the other's rows. */
export function concatenated(...parts: readonly Relation[]): Relation {
  const all = stacked(parts, () => []);
  // No row of one is before another of the same that it comes after there.
  const rows = (count: number) =>
    stacked(
      parts.map((part) => limited(part, count)),
      () => [],
    );
  return { ...all, first: { of: all.select, rows } };
}

/** Rows of all of these, the newest first; those without a time come last. */
export function interleaved(...parts: readonly Relation[]): Relation {
  return stacked(parts, (part) => {
    const time = columnOf(part, "_time");
    return [{ value: time === undefined ? raw("NULL") : numberOf(fieldValue(time)), direction: "DESC" }];
  });
}

/** Order keys that relations bring with them. Beyond these they are numbered instead. */
const maxOrderKeys = 12;

function stacked(
  given: readonly Relation[],
  leading: (part: Relation) => { value: Sql; direction: OrderKey["direction"] }[],
): Relation {
  const known = given.filter(({ columns }) => columns.length > 0);
  const crowded = known.reduce((sum, { order }) => sum + order.length, 0) > maxOrderKeys;
  const parts = crowded ? known.map((part) => (part.order.length > 1 ? numbered(part) : part)) : known;
  const [first] = parts;
  if (first === undefined) return given[0] ?? noRows;
  const shapes = [...new Set(parts.flatMap(({ columns }) => columns.map(({ name }) => name)))].map((name) => {
    const all = parts.map((part) => columnOf(part, name)).filter((column) => column !== undefined);
    const type = all.every((column) => column.type === "number") ? "number" : "text";
    return { name, type, multi: all.some(({ multi }) => multi) } as const;
  });
  const columns = placed(shapes.map(({ name }) => name));
  const lead = leading(first).map(({ direction }) => direction);
  const directions: OrderKey["direction"][] = [
    ...lead,
    "ASC",
    ...parts.flatMap(({ order }) => order.map(({ direction }) => direction)),
  ];
  const side = (part: Relation, number: number): Sql => {
    const items = shapes.map(({ name, type, multi }, index) => {
      const column = columnOf(part, name);
      const value = column === undefined ? raw("NULL") : shaped(fieldValue(column), type, multi);
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
