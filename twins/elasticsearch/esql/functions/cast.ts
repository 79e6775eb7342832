/** `::type`, short for the function TO_TYPE. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Compiler } from "../compiler.ts";
import { parsingError } from "../errors.ts";
import type { Expression } from "../syntax.ts";
import type { Typed } from "../typed.ts";
import { compileCall } from "./call.ts";

const conversions = lookupTable<string>({
  bool: "to_boolean",
  boolean: "to_boolean",
  date: "to_datetime",
  datetime: "to_datetime",
  double: "to_double",
  int: "to_integer",
  integer: "to_integer",
  ip: "to_ip",
  keyword: "to_string",
  string: "to_string",
  text: "to_string",
  long: "to_long",
  ul: "to_unsigned_long",
  ulong: "to_unsigned_long",
  unsigned_long: "to_unsigned_long",
  version: "to_version",
  geo_point: "to_geopoint",
  geo_shape: "to_geoshape",
  cartesian_point: "to_cartesianpoint",
  cartesian_shape: "to_cartesianshape",
});

export function compileCast(
  compiler: Compiler,
  { value, type, typeAt, at, depth }: Extract<Expression, { kind: "cast" }>,
): Typed {
  const name = type.toLowerCase();
  const conversion = Object.hasOwn(conversions, name) ? conversions[name] : undefined;
  if (conversion === undefined) {
    throw parsingError(typeAt, `Unknown data type named [${type}]`);
  }
  return compileCall(compiler, {
    kind: "call",
    name: conversion,
    nameAt: at,
    args: [value],
    star: false,
    at,
    depth,
  });
}
