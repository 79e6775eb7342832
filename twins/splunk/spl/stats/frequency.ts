/** `top` and `rare`: combinations of values by frequency. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { type Command, defineCommand } from "../command.ts";
import { formatPlaces } from "../eval/precision.ts";
import { type Output, type Relation, select } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { readBy } from "../syntax/aggregates.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { boolean, count, text } from "../syntax/option-types.ts";
import { type Group, groupsOf, orderKeysOf, unnestGroups } from "./group.ts";

const optionTypes = {
  ...{ showcount: boolean, showperc: boolean, useother: boolean, limit: count },
  ...{ countfield: text, percentfield: text, otherstr: text },
};

interface FrequencyOptions {
  showcount?: boolean;
  showperc?: boolean;
  useother?: boolean;
  /** 0: all. */
  limit?: number;
  countfield?: string;
  percentfield?: string;
  otherstr?: string;
}

const DEFAULT_LIMIT = 10;
/** splunkd writes `percent` as text with six decimals: `60.000000`. */
const PERCENT_DECIMALS = 6;

/** @param direction sort order of the counts */
export function frequencyCommand(
  name: string,
  aliases: readonly string[],
  direction: "ASC" | "DESC",
): Command {
  return defineCommand({
    name,
    aliases,
    kind: "report",
    parse(reader) {
      const { options, fields } = readArguments(reader);
      const by = readBy(reader);
      return { options: { ...options, ...reader.options(optionTypes) }, fields, by };
    },
    compile({ options, fields, by }, input) {
      const groups = groupsOf(by, input);
      const values = groupsOf(fields, input).filter((field) => !by.includes(field.name));
      return frequencies(input, groups, values, options, direction);
    },
  });
}

function readArguments(reader: ArgumentReader) {
  const positional = () =>
    /^\d{1,9}$/.test(reader.peek().text) ? { limit: reader.integer("a number of values") } : {};
  const first = positional();
  let options: FrequencyOptions = { ...first, ...reader.options(optionTypes) };
  options = { ...options, ...positional(), ...reader.options(optionTypes) };
  const fields = reader.fields(["by"]);
  options = { ...options, ...reader.options(optionTypes) };
  if (fields.length === 0) reader.fail("No fields were specified.");
  return { options, fields };
}

/** Columns: groups `#g…`, values `#v…`, `#count`, `#total` of the group, `#percent`, `#rank` from 1. */
function frequencies(
  input: Relation,
  by: readonly Group[],
  fields: readonly Group[],
  options: FrequencyOptions,
  direction: "ASC" | "DESC",
): Relation {
  const rows = unnestGroups(input, [...by, ...fields], { distinctValues: false });
  const named = rows.groups.map((group, index) => ({
    ...group,
    column: identifier(index < by.length ? `#g${index}` : `#v${index - by.length}`),
    type: group.value?.type === "number" ? ("number" as const) : ("text" as const),
  }));
  const keys = named.map(({ value }) => value?.sql ?? raw("CAST(NULL AS VARCHAR)"));
  const items = keys.map((key, index) => sql`${key} AS ${named[index]?.column ?? raw("")}`);
  const present = joined(
    keys.map((key) => sql`${key} IS NOT NULL`),
    " AND ",
  );
  const positions = raw(keys.map((_, index) => index + 1).join(", "));
  const counted = sql`SELECT ${joined(items, ", ")}, count(*) AS "#count" FROM (${rows.input.select}) AS r WHERE ${present} GROUP BY ${positions}`;
  const groupColumns = named.slice(0, by.length);
  const partition =
    groupColumns.length === 0
      ? raw("")
      : sql`PARTITION BY ${joined(
          groupColumns.map(({ column }) => column),
          ", ",
        )}`;
  // Equally frequent values come in descending order of their texts, as the reference shows.
  const ties = named.slice(by.length).map(({ column, type }) => textOf({ type, multi: false, sql: column }));
  const total = sql`sum("#count") OVER (${partition})`;
  const percent = sql`CAST("#count" AS DOUBLE) * 100 / ${total}`;
  // `fields` may be empty when all of them are BY fields too: then there are no ties to break.
  const places = [sql`"#count" ${raw(direction)}`, ...ties.map((tie) => sql`${tie} DESC NULLS LAST`)];
  const rank = sql`row_number() OVER (${partition} ORDER BY ${joined(places, ", ")})`;
  const ranked = sql`SELECT *, CAST(${total} AS BIGINT) AS "#total", ${percent} AS "#percent", ${rank} AS "#rank" FROM (${counted}) AS r`;
  const limit = options.limit ?? DEFAULT_LIMIT;
  const selection =
    limit === 0 ? ranked : takeTop(ranked, limit, named.slice(by.length), groupColumns, options);
  const keyOrder = [
    ...groupColumns.flatMap(({ column, type }) => orderKeysOf({ type, multi: false, sql: column })),
    raw('"#rank"'),
  ];
  const ordered = keyOrder.map((key, index) => sql`${key} AS ${identifier(`#order${index}`)}`);
  const outputs = named.map(
    ({ name, column, type }, index): Output => ({
      name,
      value: { type: index < by.length || !options.useother ? type : "text", multi: false, sql: column },
      ...(index < by.length ? { groupRank: index } : {}),
    }),
  );
  const figure = (name: string, column: string): Output => ({
    name,
    value: { type: "number", multi: false, sql: identifier(column) },
  });
  const share = formatPlaces(identifier("#percent"), PERCENT_DECIMALS);
  const { showcount = true, showperc = true, countfield = "count", percentfield = "percent" } = options;
  return select(
    sql`SELECT *, ${joined(ordered, ", ")} FROM (${selection}) AS r`,
    [
      ...outputs,
      ...(showcount ? [figure(countfield, "#count")] : []),
      ...(showperc
        ? [{ name: percentfield, value: { type: "text" as const, multi: false, sql: share } }]
        : []),
      figure("_tc", "#total"),
    ],
    keyOrder.map((_, index) => ({ column: `#order${index}`, direction: "ASC" })),
    "report",
  );
}

interface NamedColumn {
  column: Sql;
  type: "text" | "number";
}

/** The first rows of each group, and with `useother` one row that sums up the rest. */
function takeTop(
  ranked: Sql,
  limit: number,
  fields: readonly NamedColumn[],
  groups: readonly NamedColumn[],
  { useother = false, otherstr = "OTHER" }: FrequencyOptions,
): Sql {
  const maxRank = sql`CAST(${limit} AS BIGINT)`;
  if (!useother) return sql`SELECT * FROM (${ranked}) AS r WHERE "#rank" <= ${maxRank}`;
  const asText = fields.map(
    ({ column, type }) => sql`${textOf({ type, multi: false, sql: column })} AS ${column}`,
  );
  const groupColumns = groups.map(({ column }) => column);
  const topColumns = joined(
    [...groupColumns, ...asText, raw('"#count", "#total", "#percent", "#rank"')],
    ", ",
  );
  const others = joined(
    [
      ...groupColumns,
      ...fields.map(({ column }) => sql`CAST(${otherstr} AS VARCHAR) AS ${column}`),
      raw(
        'CAST(sum("#count") AS BIGINT) AS "#count", max("#total") AS "#total", sum("#percent") AS "#percent", max("#rank") AS "#rank"',
      ),
    ],
    ", ",
  );
  const by = groupColumns.length === 0 ? raw("") : sql`GROUP BY ${joined(groupColumns, ", ")}`;
  return sql`SELECT ${topColumns} FROM (${ranked}) AS r WHERE "#rank" <= ${maxRank} UNION ALL SELECT ${others} FROM (${ranked}) AS r WHERE "#rank" > ${maxRank} ${by} HAVING count(*) > 0`;
}
