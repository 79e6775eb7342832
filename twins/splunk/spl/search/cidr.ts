/** CIDR notation of IPv4 networks: `10.0.0.0/8`. */
import { type Sql, sql } from "@offhook/log-store/sql";

export interface Cidr {
  /** The lowest and the highest address, as numbers. */
  readonly first: number;
  readonly last: number;
}

const notation = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/;

/** @returns `undefined` when the text is not in CIDR notation */
export function parseCidr(text: string): Cidr | undefined {
  const match = notation.exec(text);
  if (match === null) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, bits = 0] = match.slice(1).map(Number);
  if (Math.max(a, b, c, d) > 255 || bits > 32) return undefined;
  const size = 2 ** (32 - bits);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  const first = Math.floor(address / size) * size;
  return { first, last: first + size - 1 };
}

/** The condition that a text is an address in the network; NULL when it is no address. */
export function withinCidr(text: Sql, { first, last }: Cidr): Sql {
  const part = (index: number) =>
    sql`TRY_CAST(split_part(${text}, '.', ${sql`CAST(${index} AS BIGINT)`}) AS BIGINT)`;
  const address = sql`(((${part(1)} * 256 + ${part(2)}) * 256 + ${part(3)}) * 256 + ${part(4)})`;
  const range = sql`${address} BETWEEN CAST(${first} AS BIGINT) AND CAST(${last} AS BIGINT)`;
  return sql`(regexp_full_match(${text}, '\\d{1,3}(\\.\\d{1,3}){3}') AND ${range})`;
}
