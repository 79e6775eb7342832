/**
 * The rows of `tstats prestats=t`: for each group its number of events (`psrsvd_gc`), and for each aggregated field its values in
 * event order (`psrsvd_vm_<field>`). `stats`, `chart` and `timechart` aggregate them further. The column names are splunkd's own,
 * which stores sums, counts and value maps in them instead.
 */
import { identifier, joined, raw, sql } from "@offhook/log-store/sql";
import {
  type Column,
  columnOf,
  fieldValue,
  type Output,
  type Relation,
  select,
} from "../relation/relation.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import type { Aggregation } from "./aggregation.ts";
import { type Group, groupRows, orderByGroups } from "./group.ts";
import type { Site } from "./site.ts";

const COUNT = "psrsvd_gc";
const VERSION = "psrsvd_v";
const VALUES = "psrsvd_vm_";

/** Functions that read the events' times, which a group without `_time` has lost. */
const needsTime = /^(earliest|latest)(_time)?$|^rate$|^per_/;

/** Refuses aggregates that this form cannot express. @throws SplError of phase `dispatch` */
export function checkPrestats(calls: readonly AggregateCall[], by: readonly string[], command: string): void {
  for (const { argument, name, text } of calls) {
    if (argument.kind === "expression" || argument.kind === "sparkline" || /\*/.test(text)) {
      throw commandError(
        command,
        `'${text}' is not served with prestats=true: an aggregate of one field is.`,
      );
    }
    if (needsTime.test(name) && !by.includes("_time")) {
      throw commandError(
        command,
        `'${text}' with prestats=true is served with _time among the fields of BY only.`,
      );
    }
  }
}

/** One row for each group. @param site over the rows of `input` */
export async function prestatsRows(
  input: Relation,
  groups: readonly Group[],
  calls: readonly AggregateCall[],
  site: Site,
): Promise<Relation> {
  const names = calls.flatMap(({ argument }) => (argument.kind === "field" ? [argument.name] : []));
  const columns = [...new Set(names)].flatMap((name) => {
    const column = columnOf(input, name);
    return column === undefined ? [] : [{ name, value: fieldValue(column) }];
  });
  const one = { type: "number", multi: false } as const;
  const aggregations: Aggregation[] = [
    { ...computedColumn(COUNT), compile: async () => ({ ...one, sql: raw("count(*)") }) },
    ...columns.map(({ name, value }): Aggregation => {
      const all = site.inOrder(value.sql);
      const list = { type: value.type, multi: true, sql: value.multi ? sql`flatten(${all})` : all };
      return { ...computedColumn(`${VALUES}${name}`), compile: async () => list };
    }),
    { ...computedColumn(VERSION), compile: async () => ({ ...one, sql: raw("any_value(1)") }) },
  ];
  return orderByGroups(await groupRows(input, groups, aggregations, site));
}

function computedColumn(name: string) {
  return { kind: "computed", name, measures: [] } as const;
}

/**
 * Expands rows of `prestats=t` into as many rows as there were events; other rows pass unchanged. The first row of a group holds
 * all of the group's values as multi-values.
 */
export function expandPrestats(input: Relation): Relation {
  const count = columnOf(input, COUNT);
  if (count === undefined || columnOf(input, VERSION) === undefined) return input;
  const part = identifier("#part");
  const each = sql`SELECT *, unnest(range(CAST(coalesce(${identifier(count.column)}, 0) AS BIGINT))) AS ${part} FROM (${input.select}) AS r`;
  const ordinary = input.columns.filter(({ name }) => !name.startsWith("psrsvd_"));
  const lists = input.columns.flatMap((column) => {
    const name = column.name.startsWith(VALUES) ? column.name.slice(VALUES.length) : "";
    return name === "" || ordinary.some((other) => other.name === name) ? [] : [{ column, name }];
  });
  const outputs = [
    ...ordinary.map((column): Output => ({ name: column.name, value: fieldValue(column) })),
    ...lists.map(({ column, name }): Output => ({ name, value: valueOfFirstRow(column) })),
  ];
  const last = { column: `#order${input.order.length}`, direction: "ASC" } as const;
  const keys = joined([raw("*"), sql`${part} AS ${identifier(last.column)}`], ", ");
  const rows = select(sql`SELECT ${keys} FROM (${each}) AS r`, outputs, [...input.order, last], "report");
  return { ...rows, ...(input.range === undefined ? {} : { range: input.range }) };
}

function valueOfFirstRow(column: Column) {
  const value = fieldValue(column);
  return { ...value, sql: sql`CASE WHEN "#part" = 0 THEN ${value.sql} END` };
}
