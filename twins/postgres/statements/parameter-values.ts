/** Parameters of a statement as Postgres would write them; binary ones of other types in base64. */
import type { FieldReader } from "./message-reader.ts";

type ShownParameter = string | null | { base64: string };

/** Longest value shown whole, in bytes. */
const VALUE_BYTES = 1024;
/** Postgres counts time from the year 2000, in microseconds and days. */
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
const DAY_MS = 86_400_000;

const text = (bytes: Buffer) => bytes.toString("utf8");

/** How a type's binary form is read, by its oid. Source: `pg_type` and the send functions of Postgres. */
const binary = new Map<number, { bytes?: number; show(value: Buffer): string }>([
  [16, { bytes: 1, show: (value) => (value[0] === 0 ? "f" : "t") }],
  [17, { show: (value) => `\\x${value.toString("hex")}` }],
  [20, { bytes: 8, show: (value) => value.readBigInt64BE().toString() }],
  [21, { bytes: 2, show: (value) => String(value.readInt16BE()) }],
  [23, { bytes: 4, show: (value) => String(value.readInt32BE()) }],
  [26, { bytes: 4, show: (value) => String(value.readUInt32BE()) }],
  [700, { bytes: 4, show: (value) => String(Math.fround(value.readFloatBE())) }],
  [701, { bytes: 8, show: (value) => String(value.readDoubleBE()) }],
  [1082, { bytes: 4, show: (value) => moment(value.readInt32BE() * DAY_MS).slice(0, 10) }],
  [1114, { bytes: 8, show: (value) => moment(Number(value.readBigInt64BE() / 1000n)).slice(0, -1) }],
  [1184, { bytes: 8, show: (value) => moment(Number(value.readBigInt64BE() / 1000n)) }],
  [2950, { bytes: 16, show: uuid }],
  [3802, { show: (value) => text(value.subarray(1)) }],
  ...[18, 19, 25, 114, 1042, 1043].map((oid) => [oid, { show: text }] as const),
]);

export interface ShownParameters {
  values: ShownParameter[];
  /** Number of parameters beyond the bytes read. */
  leftOut: number;
}

/**
 * Reads the formats and values of a Bind message, from after its statement's name.
 * @param oidOf the type of a parameter, by its index from 0; 0 for an unknown type
 */
export function readParameters(fields: FieldReader, oidOf: (index: number) => number): ShownParameters {
  const formats = readFormats(fields);
  const count = fields.uint16();
  const values: ShownParameter[] = [];
  while (values.length < count && fields.has(4)) {
    const bytes = fields.int32();
    const index = values.length;
    const isBinary = (formats.length === 1 ? formats[0] : formats[index]) === 1;
    const value = bytes < 0 ? null : fields.bytes(bytes);
    values.push(value === null ? null : show(value, bytes, isBinary ? oidOf(index) : undefined));
  }
  return { values, leftOut: count - values.length };
}

function readFormats(fields: FieldReader): number[] {
  const count = fields.uint16();
  const formats: number[] = [];
  while (formats.length < count && fields.has(2)) formats.push(fields.uint16());
  return formats;
}

/** @param oid of a binary value; `undefined` for text form */
function show(value: Buffer, bytes: number, oid: number | undefined): ShownParameter {
  const head = value.subarray(0, VALUE_BYTES);
  const mark = bytes > head.length ? `… (${bytes} bytes)` : "";
  if (oid === undefined) return text(head) + mark;
  const type = binary.get(oid);
  if (type && (type.bytes === undefined || type.bytes === value.length)) return type.show(head) + mark;
  return { base64: head.toString("base64") + mark };
}

function moment(sinceEpochMs: number): string {
  const time = new Date(POSTGRES_EPOCH_MS + sinceEpochMs);
  return Number.isNaN(time.getTime()) ? "infinity" : time.toISOString();
}

function uuid(value: Buffer): string {
  const hex = value.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
