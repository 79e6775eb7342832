/** Functions of addresses. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-ip-functions */

import { parseIp } from "@offhook/log-store/ip-address";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { illegalArgument } from "../../vendor/error.ts";
import { UnrecognisedEsql } from "../errors.ts";
import { addressSql, ipFromTextSql } from "../ip-sql.ts";
import { type Typed, unknownTyped } from "../typed.ts";
import { isString, type TypeSet, typeSets } from "../types.ts";
import { argument, type Call, constantArgument, type ScalarFunction } from "./declaration.ts";

/** In `specification` text counts as an address, because a dataset has its addresses as text. */
const address: TypeSet = { label: "ip", types: new Set(["ip", "keyword", "text"]) };

function addressOf(call: Call): Typed | undefined {
  const { compiler, at } = call;
  const given = argument(call, 0);
  if (!isString(given.type)) return given;
  if (given.constant?.type === "keyword") {
    const bits = parseIp(given.constant.value);
    if (bits !== undefined) return { ...given, type: "ip", sql: addressSql(bits), constant: undefined };
  }
  if (compiler.context.fidelity === "vendor") {
    compiler.problems.mismatch(
      at,
      `first argument of [${compiler.text(at)}] must be [ip], found value [${compiler.text(given.at)}] type [${given.type}]`,
    );
    return undefined;
  }
  const text = compiler.hoist(given);
  const made = { ...compiler.derive("ip", ipFromTextSql(text.sql), given.at, text) };
  return compiler.attempt(
    made,
    [text],
    sql`'java.lang.IllegalArgumentException: ''' || ${text.sql} || ''' is not an IP string literal.'`,
  );
}

const ALL_BITS = 128n;

/** The first and last address of a block: `10.0.0.0/8`. */
function block(text: string): { first: bigint; last: bigint } | undefined {
  const [, start = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const bits = parseIp(start);
  if (bits === undefined) return undefined;
  const prefix = BigInt(length) + (start.includes(":") ? 0n : 96n);
  if (prefix > ALL_BITS) return undefined;
  const size = 1n << (ALL_BITS - prefix);
  const first = (bits / size) * size;
  return { first, last: first + size - 1n };
}

export const ipFunctions: readonly ScalarFunction[] = [
  {
    kind: "scalar",
    family: "ip",
    name: "cidr_match",
    summary: "Whether an address is in one of the blocks.",
    parameters: [
      { name: "ip", types: address },
      { name: "blockX", types: typeSets.string, rest: true },
    ],
    returns: "boolean",
    compile(call) {
      const ip = addressOf(call);
      if (!ip) return unknownTyped(call.at);
      const held = call.compiler.hoist(ip).sql;
      const blocks = call.args.slice(1).map(({ at }, index) => {
        const constant = constantArgument(call, index + 1);
        if (constant?.type !== "keyword")
          throw new UnrecognisedEsql(at, "a block of addresses that is no constant");
        const range = block(constant.value);
        if (!range) throw illegalArgument(`'${constant.value}' is not an IP string literal.`);
        return sql`${held} BETWEEN ${addressSql(range.first)} AND ${addressSql(range.last)}`;
      });
      return call.derive(sql`(${joined(blocks, " OR ")})`);
    },
  },
  {
    kind: "scalar",
    family: "ip",
    name: "ip_prefix",
    summary: "The address with all but so many first bits 0: one number for IPv4, one for IPv6.",
    parameters: [
      { name: "ip", types: address },
      { name: "prefixLengthV4", types: typeSets.integer },
      { name: "prefixLengthV6", types: typeSets.integer },
    ],
    returns: "ip",
    compile(call) {
      const ip = addressOf(call);
      if (!ip) return unknownTyped(call.at);
      const held = call.compiler.hoist(ip).sql;
      const [v4, v6] = [prefixLength(call, 1, 32), prefixLength(call, 2, 128)];
      const masked = sql`CASE WHEN (${held} >> 32) = 65535 THEN ${maskedSql(held, sql`(${v4.sql} + 96)`)} ELSE ${maskedSql(held, v6.sql)} END`;
      const outside = (length: Prefix) => sql`NOT (${length.valid})`;
      return call.compiler.guard(
        call.derive(masked),
        sql`${held} IS NULL OR (${v4.valid} AND ${v6.valid})`,
        sql`CASE WHEN ${outside(v4)} THEN ${v4.refusal} ELSE ${v6.refusal} END`,
      );
    },
  },
];

/** Clears all bits after the prefix. */
function maskedSql(address: Sql, length: Sql): Sql {
  // Lengths out of bounds are clamped, because SQL computes them before the check discards them.
  const rest = sql`CAST(128 - least(greatest(${length}, 1), 128) AS UHUGEINT)`;
  return sql`CASE WHEN ${length} <= 0 THEN CAST(0 AS UHUGEINT) ELSE (${address} >> ${rest}) << ${rest} END`;
}

interface Prefix {
  sql: Sql;
  /** True for rows with a valid prefix length. */
  valid: Sql;
  /** The warning for all other rows. */
  refusal: Sql;
}

function prefixLength(call: Call, index: 1 | 2, most: 32 | 128): Prefix {
  const length = call.compiler.hoist(argument(call, index)).sql;
  const refused = `java.lang.IllegalArgumentException: Prefix length v${most === 32 ? 4 : 6} must be in range [0, ${most}], found `;
  return {
    sql: length,
    valid: sql`${length} BETWEEN 0 AND ${raw(String(most))}`,
    refusal: sql`${refused} || CAST(${length} AS VARCHAR)`,
  };
}
