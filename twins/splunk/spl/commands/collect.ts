/** `collect`: stores the rows as events of another index, and passes them on unchanged. */

import { findTimeZone } from "@offhook/log-store/dates/time-zone";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { type Rows, relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { boolean, oneOf, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";
import { formatTime } from "../time/strftime.ts";

/** Events that one search stores. */
const MAX_EVENTS = 500_000;

export const collect = defineCommand({
  name: "collect",
  aliases: ["stash", "summaryindex", "sumindex"],
  kind: "events",
  parse(reader) {
    const options = reader.options(optionTypes);
    rejectUnserved(reader, "collect", options);
    const { index, addtime = true, addinfo = true, testmode = false, marker = "", host } = options;
    if (index === undefined) return reader.fail("You must specify the name of an index: index=<string>.");
    const { source, sourcetype = "stash", output_format: format = "raw" } = options;
    return { index, addtime, addinfo, testmode, marker, host, source, sourcetype, format };
  },
  async compile(args, input, context) {
    const rows = await context.run(input, MAX_EVENTS + 1);
    if (rows.rows.length > MAX_EVENTS) {
      throw commandError("collect", `A search stores ${MAX_EVENTS} events at most.`, "run");
    }
    const { index, host, testmode } = args;
    if (!(await context.knowledge.indexes()).includes(index)) {
      context.warn({
        type: "WARN",
        text: `The index '${index}' does not exist: events for it are stored under its name.`,
      });
    }
    const source = args.source ?? context.sid;
    const events = eventsOf(rows, args, context).map(({ raw, timeMs }) => ({
      raw,
      timeMs,
      fields: { index, source, sourcetype: args.sourcetype, ...(host === undefined ? {} : { host }) },
    }));
    if (testmode) return relationOf(storedRows(events), "events");
    await context.knowledge.collect(events);
    return relationOf(rows, input.kind);
  },
});

const optionTypes = {
  index: text,
  addtime: boolean,
  addinfo: boolean,
  file: text,
  spool: boolean,
  marker: text,
  testmode: boolean,
  run_in_preview: boolean,
  output_format: oneOf("raw", "hec"),
  host: text,
  source: text,
  sourcetype: text,
  uselb: boolean,
};

interface Rendering {
  addtime: boolean;
  addinfo: boolean;
  marker: string;
  format: "raw" | "hec";
}

interface StoredEvent {
  raw: string;
  timeMs: number;
}

function eventsOf({ fields, rows }: Rows, options: Rendering, context: SearchContext): StoredEvent[] {
  const names = fields.map(({ name }) => name);
  return rows.map((row) => {
    const values = new Map(
      names.flatMap((name, index): [string, ResultValue][] => {
        const value = row[index] ?? null;
        return value === null ? [] : [[name, value]];
      }),
    );
    const seconds = [values.get("info_min_time"), values.get("_time")].find(isTime);
    const timeMs = seconds === undefined ? context.nowMs : Number(seconds) * 1000;
    return { raw: formatRaw(values, timeMs, options, context), timeMs };
  });
}

function isTime(value: ResultValue | undefined): boolean {
  return (
    (typeof value === "number" || typeof value === "string") && value !== "" && Number.isFinite(Number(value))
  );
}

function formatRaw(
  values: ReadonlyMap<string, ResultValue>,
  timeMs: number,
  { addtime, addinfo, marker, format }: Rendering,
  context: SearchContext,
): string {
  const external = [...values].filter(([name]) => !name.startsWith("_"));
  if (format === "hec")
    return JSON.stringify(Object.fromEntries(external.map(([name, value]) => [name, jsonValue(value)])));
  const raw = values.get("_raw");
  const marks = marker === "" ? [] : [marker];
  if (typeof raw === "string") return [raw, ...marks].join(", ");
  const pieces = [
    ...(addtime ? [timestamp(timeMs, context)] : []),
    ...(addinfo
      ? infoFields(context)
          .filter(([name]) => !values.has(name))
          .map(formatPair)
      : []),
    ...marks,
    ...external.map(formatPair),
  ];
  return pieces.join(", ");
}

function timestamp(timeMs: number, { timeZone }: SearchContext): string {
  const zone = findTimeZone(timeZone) ?? findTimeZone("UTC");
  const written = zone === undefined ? undefined : formatTime(timeMs / 1000, "%m/%d/%Y %H:%M:%S %z", zone);
  return written ?? new Date(timeMs).toISOString();
}

function infoFields({ range, nowMs }: SearchContext): [string, ResultValue][] {
  const { earliestMs = 0, latestMs } = range;
  return [
    ["info_min_time", (earliestMs / 1000).toFixed(3)],
    ["info_max_time", latestMs === undefined ? "+Infinity" : (latestMs / 1000).toFixed(3)],
    ["info_search_time", (nowMs / 1000).toFixed(3)],
  ];
}

/** `count=3`, `user="ann lee"`: quotes values that are no numbers. */
function formatPair([name, value]: [string, ResultValue]): string {
  const written = Array.isArray(value) ? value.join("\n") : String(value);
  return /^[+-]?\d+(\.\d+)?$/.test(written)
    ? `${name}=${written}`
    : `${name}="${written.replaceAll('"', '\\"')}"`;
}

function jsonValue(value: ResultValue): unknown {
  if (Array.isArray(value)) return value.map(jsonValue);
  return typeof value === "bigint" ? value.toString() : value;
}

function storedRows(
  events: readonly { raw: string; timeMs: number; fields: Readonly<Record<string, string>> }[],
): Rows {
  const names = [...new Set(events.flatMap(({ fields }) => Object.keys(fields)))];
  return {
    fields: [
      { name: "_time", type: "number", multi: false },
      { name: "_raw", type: "text", multi: false },
      ...names.map((name) => ({ name, type: "text", multi: false }) as const),
    ],
    rows: events.map(({ raw, timeMs, fields }) => [
      timeMs / 1000,
      raw,
      ...names.map((name) => fields[name] ?? null),
    ]),
  };
}
