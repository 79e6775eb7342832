/** Arguments of `chart` and `timechart`. */
import { commandError } from "../spl-error.ts";
import { readAggregates } from "../syntax/aggregates.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import { boolean, text } from "../syntax/option-types.ts";
import { binOptionTypes } from "./bin-options.ts";
import { checkAggregates } from "./check-aggregates.ts";
import { isComputed } from "./computed.ts";
import type { BinOptions } from "./number-bins.ts";
import {
  readSeriesCondition,
  type SeriesCondition,
  type SeriesOptions,
  seriesOptionTypes,
} from "./series-options.ts";

/** A field and its bin options. */
export interface BinnedField {
  name: string;
  bins: BinOptions;
}

export interface ChartArguments {
  calls: AggregateCall[];
  row: BinnedField | undefined;
  series: BinnedField | undefined;
  options: SeriesOptions & TimechartOptions;
  /** Bin options before the aggregates: they apply to the row field. */
  bins: BinOptions;
  condition: SeriesCondition | undefined;
  /** `agg=max`. */
  score: string | undefined;
}

/** Options of `timechart` alone. */
interface TimechartOptions {
  partial?: boolean;
  fixedrange?: boolean;
}

const chartOptionTypes = {
  ...seriesOptionTypes,
  ...binOptionTypes,
  agg: text,
  partial: boolean,
  fixedrange: boolean,
};

type Read = SeriesOptions & TimechartOptions & BinOptions & { agg?: string };

/** Reads `… aggregates … BY field field`; options may stand between all of them. @throws SplError */
export function readChart(reader: ArgumentReader): Omit<ChartArguments, "bins"> & { bins: Read } {
  let leading: Read = {};
  const calls: AggregateCall[] = [];
  for (;;) {
    const before = reader.offset();
    leading = { ...leading, ...readOptions(reader) };
    calls.push(...readAggregates(reader));
    if (reader.offset() === before) break;
  }
  if (calls.length === 0) reader.fail("You must specify data field(s) to chart.");
  checkAggregates(
    calls.filter((call) => !isComputed(call)),
    reader.command,
  );
  const fields: BinnedField[] = [];
  let trailing: Read = {};
  const over = reader.keyword("over");
  if (over) fields.push(readField(reader));
  if (reader.keyword("by") && (over || fields.length === 0)) fields.push(...readFields(reader));
  for (const { bins } of fields) trailing = { ...trailing, ...bins };
  const condition = readSeriesCondition(reader);
  trailing = { ...trailing, ...readOptions(reader) };
  if (fields.length > 2) throw commandError(reader.command, "Only one field can split the series.");
  const options = { ...leading, ...trailing };
  const [row, series] = fields;
  return {
    calls,
    row,
    series,
    options,
    bins: leading,
    condition,
    score: options.agg?.split("(", 1)[0]?.toLowerCase(),
  };
}

function readOptions(reader: ArgumentReader): Read {
  let options: Read = {};
  for (;;) {
    const more: Read = reader.options(chartOptionTypes);
    options = { ...options, ...more };
    // splunkd ignores the argument of `agg=max(x)`: the aggregate is always over the series.
    if (more.agg === undefined || reader.parenthesized() === undefined) return options;
    if (reader.keyword("as")) reader.field("a name after AS");
  }
}

function readFields(reader: ArgumentReader): BinnedField[] {
  const fields: BinnedField[] = [];
  for (;;) {
    reader.symbol(",");
    const { type, text: word } = reader.peek();
    const stops = type === "word" && word.toLowerCase() === "where";
    if ((type !== "word" && type !== "string") || stops) break;
    fields.push(readField(reader));
  }
  if (fields.length === 0) reader.fail("A split-by field is expected.");
  return fields;
}

function readField(reader: ArgumentReader): BinnedField {
  return { name: reader.field("a field to chart by"), bins: readOptions(reader) };
}
