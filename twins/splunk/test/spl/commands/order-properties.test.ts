/** `sort` and `dedup` against naive evaluators. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

type Value = string | null;
interface Row {
  n: number;
  a: Value;
  b: Value;
}

const words = [
  "x",
  "X",
  "y10",
  "y9",
  "10",
  "9",
  "-3",
  "0.5",
  "1e2",
  "",
  "-",
  "_",
  "10.0.0.9",
  "10.0.0.10",
  "9.9.9.9",
  "7abc",
];
const value = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 4, arbitrary: fc.constantFrom(...words) },
);
const table = fc
  .array(fc.record({ a: value, b: value }), { maxLength: 30 })
  .map((rows) => rows.map((row, n): Row => ({ n, ...row })));

/** The numbers of the rows that remain after a search. */
async function remainingIds(rows: readonly Row[], text: string): Promise<unknown[]> {
  const present = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([, one]) => one !== null)),
  );
  // An extra row makes both fields exist and hold text.
  const input = [...present, { n: -1, a: "text", b: "text" }];
  const found = await bench.searchRows(input, `where n>=0 | ${text}`);
  return found.rows.map(({ n }) => n);
}

type SortType = "auto" | "num" | "str" | "ip";

const isNumber = (text: string) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
const isAddress = (text: string) =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split(".").every((byte) => Number(byte) < 256);
const addressNumber = (text: string) => text.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);

/** The rank of a value's kind, and the key that it compares by. */
function kindOf(text: string, type: SortType): [number, number | string] {
  if (type === "str") return [0, text];
  if (type === "num") return isNumber(text) ? [0, Number(text)] : [1, text];
  if (type === "ip") return isAddress(text) ? [0, addressNumber(text)] : [1, text];
  if (isNumber(text)) return [1, Number(text)];
  if (isAddress(text)) return [2, addressNumber(text)];
  return text < "0" ? [0, text] : [3, text];
}

function compareValues(a: Value, b: Value, type: SortType, direction: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const [kindA, keyA] = kindOf(a, type);
  const [kindB, keyB] = kindOf(b, type);
  if (kindA !== kindB) return direction * (kindA - kindB);
  if (keyA === keyB) return direction * (a < b ? -1 : a > b ? 1 : 0);
  return direction * (keyA < keyB ? -1 : 1);
}

interface Key {
  field: "a" | "b";
  type: SortType;
  direction: 1 | -1;
}

const key = fc.record<Key>({
  field: fc.constantFrom("a", "b"),
  type: fc.constantFrom("auto", "num", "str", "ip"),
  direction: fc.constantFrom(1, -1),
});
const keys = fc.array(key, { minLength: 1, maxLength: 2 });

const keyText = ({ field, type, direction }: Key) => `${direction === 1 ? "+" : "-"}${type}(${field})`;

function sortNaively(rows: readonly Row[], by: readonly Key[]): Row[] {
  return [...rows].sort((one, other) => {
    for (const { field, type, direction } of by) {
      const order = compareValues(one[field], other[field], type, direction);
      if (order !== 0) return order;
    }
    return one.n - other.n;
  });
}

test("rule 53: sort is the naive sort, stable, cut at its limit, and reversed by desc", async () => {
  await fc.assert(
    fc.asyncProperty(table, keys, fc.nat({ max: 5 }), fc.boolean(), async (rows, by, limit, reversed) => {
      const text = `sort ${limit} ${by.map(keyText).join(", ")}${reversed ? " desc" : ""}`;
      const all = sortNaively(rows, by);
      if (reversed) all.reverse();
      const expected = limit === 0 ? all : all.slice(0, limit);
      expect(await remainingIds(rows, text)).toEqual(expected.map(({ n }) => n));
    }),
    { numRuns: 150 },
  );
});

interface Dedup {
  most: number;
  fields: ("a" | "b")[];
  keepempty: boolean;
  consecutive: boolean;
}

const dedup = fc.record<Dedup>({
  most: fc.integer({ min: 1, max: 3 }),
  fields: fc.constantFrom<("a" | "b")[]>(["a"], ["a", "b"]),
  keepempty: fc.boolean(),
  consecutive: fc.boolean(),
});

/** Surplus rows, and rows without a value. */
function dedupNaively(rows: readonly Row[], { most, fields, keepempty, consecutive }: Dedup) {
  const seen = new Map<string, number>();
  const extra = new Set<Row>();
  const empty = new Set<Row>();
  let before: string | undefined;
  for (const row of rows) {
    const values = fields.map((field) => row[field]);
    const isEmpty = values.includes(null);
    if (isEmpty) empty.add(row);
    if (isEmpty && !keepempty) continue;
    const id = JSON.stringify(values);
    if (consecutive && id !== before) seen.clear();
    before = id;
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    if (!isEmpty && count > most) extra.add(row);
  }
  return { extra, empty };
}

test("rule 54: dedup keeps what the naive one keeps, in order", async () => {
  await fc.assert(
    fc.asyncProperty(table, dedup, fc.option(keys, { nil: [] }), async (rows, options, by) => {
      const { most, fields, keepempty, consecutive } = options;
      const sortby = by.length === 0 ? "" : ` sortby ${by.map(keyText).join(", ")}`;
      const text = `dedup ${most} ${fields.join(" ")} keepempty=${keepempty} consecutive=${consecutive}${sortby}`;
      const ordered = sortNaively(rows, by);
      const { extra, empty } = dedupNaively(ordered, options);
      const expected = ordered.filter((row) => !extra.has(row) && (keepempty || !empty.has(row)));
      expect(await remainingIds(rows, text)).toEqual(expected.map(({ n }) => n));
    }),
    { numRuns: 150 },
  );
});

test("rule 54: dedup keepevents empties the fields of the rows that it would drop as repeated", async () => {
  await fc.assert(
    fc.asyncProperty(table, dedup, async (rows, options) => {
      const { most, fields, consecutive } = options;
      const text = `dedup ${most} ${fields.join(" ")} keepevents=t consecutive=${consecutive} | where isnull(${fields.join(") AND isnull(")})`;
      const { extra } = dedupNaively(rows, { ...options, keepempty: true });
      const expected = rows.filter((row) => extra.has(row) || fields.every((field) => row[field] === null));
      expect(await remainingIds(rows, text)).toEqual(expected.map(({ n }) => n));
    }),
    { numRuns: 75 },
  );
});
