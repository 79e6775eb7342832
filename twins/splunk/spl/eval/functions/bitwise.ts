/** Bitwise functions, on integers from 0 to 2^53-1 as in splunkd; NULL for anything else. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce } from "../../relation/typed.ts";
import { nothing, number, type Value } from "../value.ts";
import type { Use } from "./declaration.ts";
import { type Entry, family, numberArgument } from "./tools.ts";

/** 2^53-1. */
const allBits = raw("9007199254740991");

/** An argument as HUGEINT, which no shift of such a number overflows. */
function bitsOf(value: Value, use: Use): Sql {
  return bindOnce(
    numberArgument(value, use),
    (x) => sql`CASE WHEN ${x} BETWEEN 0 AND ${allBits} AND ${x} = floor(${x}) THEN CAST(${x} AS HUGEINT) END`,
  );
}

const asNumber = (value: Sql) => number(sql`CAST(${value} AS DOUBLE)`);

function ofMany(name: string, summary: string, join: (a: Sql, b: Sql) => Sql): Entry {
  return {
    name,
    syntax: `${name}(number, ...)`,
    summary,
    minArgs: 2,
    maxArgs: Number.POSITIVE_INFINITY,
    compile: (values, use) => asNumber(values.map((value) => bitsOf(value, use)).reduce(join)),
  };
}

/** @param shift shifts by fewer than 53 places */
function ofShift(name: string, summary: string, shift: (a: Sql, places: Sql) => Sql): Entry {
  return {
    name,
    syntax: `${name}(number, places)`,
    summary,
    minArgs: 2,
    maxArgs: 2,
    compile: ([value = nothing, places = nothing], use) =>
      asNumber(
        bindOnce(bitsOf(value, use), (a) =>
          bindOnce(
            bitsOf(places, use),
            (by) => sql`CASE WHEN ${by} < 53 THEN ${shift(a, by)} ELSE ${a} * 0 * ${by} END`,
          ),
        ),
      ),
  };
}

export const bitwiseFunctions = family("bitwise", [
  ofMany("bit_and", "The bits that all the numbers have.", (a, b) => sql`(${a} & ${b})`),
  ofMany("bit_or", "The bits that one of the numbers has.", (a, b) => sql`(${a} | ${b})`),
  ofMany("bit_xor", "The bits that an odd number of the numbers have.", (a, b) => sql`xor(${a}, ${b})`),
  {
    name: "bit_not",
    syntax: "bit_not(number, [mask])",
    summary: "The bits of the mask that the number does not have; default mask: 53 bits.",
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, mask], use) {
      const inverse = sql`xor(${bitsOf(value, use)}, CAST(${allBits} AS HUGEINT))`;
      return asNumber(mask === undefined ? inverse : sql`(${inverse} & ${bitsOf(mask, use)})`);
    },
  },
  ofShift(
    "bit_shift_left",
    "The bits shifted to the left; those beyond 53 are lost.",
    (a, by) => sql`((${a} << ${by}) & CAST(${allBits} AS HUGEINT))`,
  ),
  ofShift("bit_shift_right", "The bits shifted to the right.", (a, by) => sql`(${a} >> ${by})`),
]);
