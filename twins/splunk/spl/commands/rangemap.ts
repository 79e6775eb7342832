/** `rangemap`: names the ranges that a number lies in. */
import { joined, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { text, type Value } from "../eval/value.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import { bindOnce, lambdaParameter, numberOf } from "../relation/typed.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

interface NumberRange {
  name: string;
  from: number;
  to: number;
}

export const rangemap = defineCommand({
  name: "rangemap",
  kind: "streaming",
  parse(reader) {
    const ranges: NumberRange[] = [];
    let field: string | undefined;
    let otherwise: string | undefined;
    while (!reader.atEnd()) {
      const name = reader.text("a range");
      if (!reader.symbol("=")) reader.fail(`A '=' is expected after '${name}'.`);
      if (name.toLowerCase() === "field") {
        field = reader.field(`a value for '${name}'`);
        continue;
      }
      const value = reader.text(`a value for '${name}'`);
      if (name.toLowerCase() === "default") otherwise = value;
      else ranges.push(readRange(reader, name, value));
    }
    if (field === undefined) return reader.fail("The 'field' option is missing.");
    if (ranges.length === 0 && otherwise === undefined)
      return reader.fail("At least one range is needed: <name>=<number>-<number>.");
    return { field, ranges, otherwise: otherwise ?? "None" };
  },
  compile({ field, ranges, otherwise }, input) {
    const column = columnOf(input, field);
    const value = column === undefined || ranges.length === 0 ? undefined : fieldValue(column);
    return extend(
      input,
      new Map([
        ["range", value === undefined ? constantText(otherwise) : rangeNames(value, ranges, otherwise)],
      ]),
    );
  },
});

function readRange(reader: ArgumentReader, name: string, text: string): NumberRange {
  const number = String.raw`([+-]?(?:\d+\.?\d*|\.\d+))`;
  const [, from, to] = new RegExp(`^${number}-${number}$`).exec(text) ?? [];
  if (from === undefined || to === undefined) {
    return reader.fail(`The range '${text}' of '${name}' is invalid. It has the form <number>-<number>.`);
  }
  return { name, from: Number(from), to: Number(to) };
}

/** The names of the matching ranges: a multi-value if ranges overlap. */
function rangeNames(value: Value, ranges: readonly NumberRange[], otherwise: string): Value {
  const overlap = ranges.some((range, index) =>
    ranges.slice(index + 1).some((other) => range.from <= other.to && other.from <= range.to),
  );
  return rangeNamesSql(value, ranges, otherwise, overlap ? "all" : "one");
}

function rangeNamesSql(
  value: Value,
  ranges: readonly NumberRange[],
  otherwise: string,
  which: "all" | "one",
): Value {
  const chosen = bindOnce(numberOf(value), (number) => {
    const tests = ranges.map(
      ({ name, from, to }) => sql`WHEN ${number} BETWEEN ${from} AND ${to} THEN CAST(${name} AS VARCHAR)`,
    );
    if (which === "one") return sql`CASE ${joined(tests, " ")} ELSE CAST(${otherwise} AS VARCHAR) END`;
    const names = joined(
      tests.map((test) => sql`CASE ${test} END`),
      ", ",
    );
    const item = lambdaParameter();
    const within = sql`list_filter([${names}], lambda ${item}: ${item} IS NOT NULL)`;
    return bindOnce(
      within,
      (list) => sql`CASE WHEN len(${list}) > 0 THEN ${list} ELSE [CAST(${otherwise} AS VARCHAR)] END`,
    );
  });
  return { ...text(chosen), multi: which === "all" };
}

function constantText(value: string): Value {
  return text(sql`CAST(${value} AS VARCHAR)`);
}
