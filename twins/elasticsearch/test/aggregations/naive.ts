/** A reference implementation of aggregations, independent of the one it checks: every bucket is a list of documents. */

export interface Row {
  word?: string;
  whole?: number;
  part?: number;
  flag?: boolean;
  at?: string;
  tags?: string[];
  wholes?: number[];
}

/** The options that the evaluator reads, of any aggregation. */
interface Options {
  field: keyof Row;
  filters: Record<string, Query>;
  ranges: { from?: number; to?: number }[];
  interval: number;
  calendar_interval?: string;
  time_zone?: string;
  size?: number;
  min_doc_count?: number;
  order?: Record<string, string>;
}

interface Query {
  term?: Record<string, string>;
}

type Json = { [member: string]: Json } | Json[] | string | number | boolean | null;
export type Definition = { [type: string]: unknown; aggs?: Record<string, Definition> };

const DAY_MS = 86_400_000;

export function evaluate(
  definitions: Record<string, Definition>,
  rows: readonly Row[],
  all: readonly Row[],
): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, { aggs = {}, ...typed }]) => {
      const [type = "", options] = Object.entries(typed)[0] ?? [];
      return [name, one(type, options as Options & Query, aggs, rows, all)];
    }),
  );
}

function one(
  type: string,
  options: Options & Query,
  aggs: Record<string, Definition>,
  rows: readonly Row[],
  all: readonly Row[],
): Json {
  const single = (docs: readonly Row[]): Json => ({ doc_count: docs.length, ...evaluate(aggs, docs, all) });
  const inside = (members: Record<string, Json>, docs: readonly Row[]): Json => ({
    ...members,
    doc_count: docs.length,
    ...evaluate(aggs, docs, all),
  });
  // A bucket that fills a histogram's gap has no keys inside, not even with min_doc_count 0.
  const inGap = (members: Record<string, Json>, docs: readonly Row[]): Json => ({
    ...members,
    doc_count: docs.length,
    ...evaluate(aggs, docs, docs.length === 0 ? [] : all),
  });
  const field = options.field;
  switch (type) {
    case "global":
      return single(all);
    case "filter":
      return single(rows.filter((row) => matches(row, options)));
    case "missing":
      return single(rows.filter((row) => valuesOf(row, field).length === 0));
    case "filters": {
      const { filters } = options;
      return {
        buckets: Object.fromEntries(
          Object.entries(filters).map(([key, query]) => [
            key,
            inside(
              {},
              rows.filter((row) => matches(row, query)),
            ),
          ]),
        ),
      };
    }
    case "range":
      return {
        buckets: options.ranges.map(({ from, to }) => ({
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
          ...(inside(
            {},
            rows.filter((row) =>
              valuesOf(row, field).some(
                (value) => Number(value) >= (from ?? -Infinity) && Number(value) < (to ?? Infinity),
              ),
            ),
          ) as object),
        })),
      };
    case "terms":
      return terms(options, field, aggs, rows, all, inside);
    case "histogram": {
      const interval = options.interval;
      return histogram(
        rows,
        field,
        (value) => Math.floor(Number(value) / interval) * interval,
        (key) => key + interval,
        inGap,
      );
    }
    case "date_histogram": {
      const shift = options.time_zone === "+02:00" ? DAY_MS / 12 : 0;
      const month = options.calendar_interval === "month";
      const floor = (value: unknown) => {
        const local = Number(value) + shift;
        return (month ? startOfMonth(local, 0) : Math.floor(local / DAY_MS) * DAY_MS) - shift;
      };
      const next = (key: number) => (month ? startOfMonth(key + shift, 1) - shift : key + DAY_MS);
      return histogram(rows, field, floor, next, inGap);
    }
    default:
      return metric(
        type,
        rows.flatMap((row) => valuesOf(row, field)),
      );
  }
}

function startOfMonth(local: number, plus: number): number {
  const date = new Date(local);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + plus, 1);
}

function valuesOf(row: Row, field: keyof Row): (string | number)[] {
  const value = row[field];
  if (value === undefined) return [];
  if (typeof value === "boolean") return [Number(value)];
  if (field === "at") return [Date.parse(String(value))];
  if (field === "tags") return [...new Set(row.tags)];
  return Array.isArray(value) ? value : [value];
}

function matches(row: Row, query: Query): boolean {
  const [field, value] = Object.entries(query.term ?? {})[0] ?? [];
  return field === undefined || (row as Record<string, unknown>)[field] === value;
}

function grouped(
  rows: readonly Row[],
  keysOf: (row: Row) => (string | number)[],
): Map<string | number, Row[]> {
  const groups = new Map<string | number, Row[]>();
  for (const row of rows) {
    for (const key of new Set(keysOf(row))) groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

type Inside = (members: Record<string, Json>, docs: readonly Row[]) => Json;

function terms(
  options: Options,
  field: keyof Row,
  aggs: Record<string, Definition>,
  rows: readonly Row[],
  all: readonly Row[],
  inside: Inside,
): Json {
  const groups = grouped(rows, (row) => valuesOf(row, field));
  const minimum = options.min_doc_count ?? 1;
  if (minimum === 0)
    for (const key of grouped(all, (row) => valuesOf(row, field)).keys())
      if (!groups.has(key)) groups.set(key, []);
  const [path = "_count", direction = "desc"] = Object.entries(options.order ?? {})[0] ?? [];
  const figure = (key: string | number, docs: readonly Row[]) => {
    if (path === "_key") return key;
    if (path === "_count") return docs.length;
    const { value } = evaluate(aggs, docs, all)[path] as { value: number | null };
    if (value !== null || aggs[path]?.avg) return value;
    // The minimum without values is Infinity.
    return aggs[path]?.min ? Infinity : -Infinity;
  };
  const entries = [...groups].sort(([a, docsA], [b, docsB]) => {
    const [x, y] = [figure(a, docsA), figure(b, docsB)];
    const byKey = a < b ? -1 : 1;
    if (x === null || y === null) return x === y ? byKey : x === null ? 1 : -1;
    return x === y ? byKey : (x < y ? -1 : 1) * (direction === "asc" ? 1 : -1);
  });
  const size = options.size ?? 10;
  // The shard returns its first groups, however small; groups that are too small are dropped afterwards and count nowhere.
  const ofShard = entries.slice(0, path === "_key" ? size : Math.floor(size * 1.5 + 10));
  const shown = ofShard.filter(([, docs]) => docs.length >= minimum).slice(0, size);
  const tooSmall = ofShard.filter(([, docs]) => docs.length < minimum);
  const documents = (some: typeof entries) => some.reduce((sum, [, docs]) => sum + docs.length, 0);
  return {
    sum_other_doc_count: documents(entries) - documents(tooSmall) - documents(shown),
    buckets: shown.map(([key, docs]) => inside({ key }, docs)),
  };
}

function histogram(
  rows: readonly Row[],
  field: keyof Row,
  floor: (value: unknown) => number,
  next: (key: number) => number,
  inside: Inside,
): Json {
  const groups = grouped(rows, (row) => valuesOf(row, field).map(floor));
  const keys = [...groups.keys()].map(Number).sort((a, b) => a - b);
  const buckets: Json[] = [];
  for (let key = keys[0]; key !== undefined && key <= (keys.at(-1) ?? 0); key = next(key))
    buckets.push(inside({ key }, groups.get(key) ?? []));
  return { buckets };
}

function metric(type: string, values: readonly (string | number)[]): Json {
  const numbers = values.map(Number);
  const sum = numbers.reduce((a, b) => a + b, 0);
  const none = numbers.length === 0;
  switch (type) {
    case "avg":
      return { value: none ? null : sum / numbers.length };
    case "sum":
      return { value: sum };
    case "min":
      return { value: none ? null : Math.min(...numbers) };
    case "max":
      return { value: none ? null : Math.max(...numbers) };
    case "value_count":
      return { value: values.length };
    case "cardinality":
      return { value: new Set(values).size };
    case "stats":
      return none
        ? { count: 0, min: null, max: null, avg: null, sum: 0 }
        : {
            count: numbers.length,
            min: Math.min(...numbers),
            max: Math.max(...numbers),
            avg: sum / numbers.length,
            sum,
          };
    default: {
      const sorted = numbers.sort((a, b) => a - b);
      const at = (sorted.length - 1) / 2;
      const [low = 0, high = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
      return { values: { "50.0": none ? null : (low + high) / 2 } };
    }
  }
}
