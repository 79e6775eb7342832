/**
 * The rows of `tstats prestats=t`: for each group how many events it has (`psrsvd_gc`), and for each field that is asked about its
 * values, in the order of the events (`psrsvd_vm_<field>`). `stats`, `chart` and `timechart` make their aggregates of them.
 * splunkd keeps sums, counts and value maps there; the names are its own.
 */
import { identifier, joined, raw, sql } from "@offhook/log-store/sql";
import {
  type Column,
  columnOf,
  fieldValue,
  type Output,
  type Relation,
  selected,
} from "../relation/relation.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import type { Aggregation } from "./aggregation.ts";
import { type Group, grouped, inGroupOrder } from "./group.ts";
import type { Site } from "./site.ts";

const COUNT = "psrsvd_gc";
const VERSION = "psrsvd_v";
const VALUES = "psrsvd_vm_";

/** Functions of the time of events, which a group without `_time` does not have. */
const ofTime = /^(earliest|latest)(_time)?$|^rate$|^per_/;

/** What cannot be said in this form. @throws SplError of phase `dispatch` */
export function checkPrestats(calls: readonly AggregateCall[], by: readonly string[], command: string): void {
  for (const { argument, name, text } of calls) {
    if (argument.kind === "expression" || argument.kind === "sparkline" || /\*/.test(text)) {
      throw commandError(
        command,
        `'${text}' is not served with prestats=true: an aggregate of one field is.`,
      );
    }
    if (ofTime.test(name) && !by.includes("_time")) {
      throw commandError(
        command,
        `'${text}' with prestats=true is served with _time among the fields of BY only.`,
      );
    }
  }
}

/** A row for each group. @param input of which the groups are; the site is of its rows */
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
    { ...computed(COUNT), compile: async () => ({ ...one, sql: raw("count(*)") }) },
    ...columns.map(({ name, value }): Aggregation => {
      const all = site.inOrder(value.sql);
      const list = { type: value.type, multi: true, sql: value.multi ? sql`flatten(${all})` : all };
      return { ...computed(`${VALUES}${name}`), compile: async () => list };
    }),
    { ...computed(VERSION), compile: async () => ({ ...one, sql: raw("any_value(1)") }) },
  ];
  return inGroupOrder(await grouped(input, groups, aggregations, site));
}

function computed(name: string) {
  return { kind: "computed", name, measures: [] } as const;
}

/**
 * As many rows as there were events, where these are the rows of `prestats=t`; other rows are as they were. A group's values of a
 * field are a multi-value of its first row.
 */
export function fromPrestats(input: Relation): Relation {
  const count = columnOf(input, COUNT);
  if (count === undefined || columnOf(input, VERSION) === undefined) return input;
  const part = identifier("#part");
  const each = sql`SELECT *, unnest(range(CAST(coalesce(${identifier(count.column)}, 0) AS BIGINT))) AS ${part} FROM (${input.select}) AS r`;
  const kept = input.columns.filter(({ name }) => !name.startsWith("psrsvd_"));
  const lists = input.columns.flatMap((column) => {
    const name = column.name.startsWith(VALUES) ? column.name.slice(VALUES.length) : "";
    return name === "" || kept.some((other) => other.name === name) ? [] : [{ column, name }];
  });
  const outputs = [
    ...kept.map((column): Output => ({ name: column.name, value: fieldValue(column) })),
    ...lists.map(({ column, name }): Output => ({ name, value: ofFirst(column) })),
  ];
  const last = { column: `#order${input.order.length}`, direction: "ASC" } as const;
  const keys = joined([raw("*"), sql`${part} AS ${identifier(last.column)}`], ", ");
  const rows = selected(sql`SELECT ${keys} FROM (${each}) AS r`, outputs, [...input.order, last], "report");
  return { ...rows, ...(input.range === undefined ? {} : { range: input.range }) };
}

function ofFirst(column: Column) {
  const value = fieldValue(column);
  return { ...value, sql: sql`CASE WHEN "#part" = 0 THEN ${value.sql} END` };
}
