/** Functions that choose. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-conditional-functions-and-expressions */
import { joined, raw, sql } from "@offhook/log-store/sql";
import type { Compiler } from "../compiler.ts";
import { type Typed, unknownTyped, widen } from "../typed.ts";
import { type DataType, typeSets } from "../types.ts";
import { argument, type Call, ordinalOf, type ScalarFunction, sameKind, sameType } from "./declaration.ts";

const anyType = { types: typeSets.any, multi: true } as const;

/** Converts the values to one type; `undefined` after a problem was reported, when the types differ. */
function unifyTypes(call: Call, values: readonly { value: Typed; index: number }[]): Typed[] | undefined {
  const { compiler, at } = call;
  const type = sameType(values.map(({ value }) => value.type));
  const first = values.find(({ value }) => value.type !== "null")?.value.type ?? "null";
  for (const { value, index } of values) {
    if (value.type === "null" || sameKind(call, value.type, first)) continue;
    compiler.problems.mismatch(
      at,
      `${ordinalOf(index)}argument of [${compiler.text(at)}] must be [${first}], found value [${compiler.text(value.at)}] type [${value.type}]`,
    );
    return undefined;
  }
  const multi = values.some(({ value }) => value.multi);
  return values.map(({ value }) => {
    const wide = widen(value, type);
    return multi ? asList(compiler, wide) : wide;
  });
}

function asList(compiler: Compiler, value: Typed): Typed {
  if (value.multi) return value;
  if (value.constant?.type === "null") return { ...value, sql: raw("NULL"), multi: true };
  return compiler.asList(value);
}

function deriveChoice(call: Call, values: readonly Typed[], choice: Typed["sql"]): Typed {
  const [first] = values;
  const type: DataType = first?.type ?? "null";
  return { ...call.derive(choice), type, multi: first?.multi ?? false };
}

function coalesce(call: Call): Typed {
  const values = unifyTypes(
    call,
    call.args.map((value, index) => ({ value, index })),
  );
  if (!values) return unknownTyped(call.at);
  return deriveChoice(
    call,
    values,
    sql`coalesce(${joined(
      values.map((value) => value.sql),
      ", ",
    )})`,
  );
}

const caseCondition = {
  treatedAs: "false",
  message: "java.lang.IllegalArgumentException: CASE expects a single-valued boolean",
} as const;

function caseOf(call: Call): Typed {
  const { compiler, args, at } = call;
  const branches = args.map((value, index) => ({ value, index }));
  const conditions = branches.filter(({ index }) => index % 2 === 0 && index < args.length - 1);
  for (const { value, index } of conditions) {
    if (value.type === "boolean" || value.type === "null") continue;
    compiler.problems.mismatch(
      at,
      `${ordinalOf(index)}argument of [${compiler.text(at)}] must be [boolean], found value [${compiler.text(value.at)}] type [${value.type}]`,
    );
    return unknownTyped(at);
  }
  const values = unifyTypes(
    call,
    branches.filter(({ index }) => index % 2 === 1 || index === args.length - 1),
  );
  if (!values) return unknownTyped(at);
  const cases = conditions.map(({ value }, index) => {
    const condition =
      value.type === "null" ? raw("FALSE") : compiler.single(value, value.at, caseCondition).sql;
    return sql`WHEN ${condition} THEN ${values[index]?.sql ?? raw("NULL")}`;
  });
  const otherwise = values[conditions.length];
  const last = otherwise ? sql` ELSE ${otherwise.sql}` : raw("");
  return deriveChoice(call, values, sql`CASE ${joined(cases, " ")}${last} END`);
}

/** GREATEST and LEAST; an argument of several values counts by its own greatest or least. */
function extremeFunction(name: "greatest" | "least", summary: string): ScalarFunction {
  const ofList = raw(name === "greatest" ? "list_max" : "list_min");
  return {
    kind: "scalar",
    family: "conditional",
    name,
    summary,
    parameters: [
      { name: "first", ...anyType },
      { name: "rest", ...anyType, optional: true, rest: true },
    ],
    returns: sameType,
    compile(call) {
      const values = unifyTypes(
        call,
        call.args.map((value, index) => ({ value, index })),
      );
      if (!values) return unknownTyped(call.at);
      const single = values.map((value) => (value.multi ? sql`${ofList}(${value.sql})` : value.sql));
      const held = single.map((value) => call.compiler.hoist({ ...call.derive(value) }).sql);
      const present = joined(
        held.map((value) => sql`${value} IS NOT NULL`),
        " AND ",
      );
      return call.derive(sql`CASE WHEN ${present} THEN ${raw(name)}(${joined(held, ", ")}) END`);
    },
  };
}

export const conditionalFunctions: readonly ScalarFunction[] = [
  {
    kind: "scalar",
    family: "conditional",
    name: "case",
    summary: "The value behind the first condition that is true; else the last value, if it stands alone.",
    parameters: [
      { name: "condition", ...anyType },
      { name: "trueValue", ...anyType },
      { name: "elseValue", ...anyType, optional: true, rest: true },
    ],
    returns: (types) => sameType(types.filter((_, index) => index % 2 === 1 || index === types.length - 1)),
    takesNull: true,
    compile: caseOf,
  },
  {
    kind: "scalar",
    family: "conditional",
    name: "coalesce",
    summary: "The first argument that is not null.",
    parameters: [
      { name: "first", ...anyType },
      { name: "rest", ...anyType, optional: true, rest: true },
    ],
    returns: sameType,
    takesNull: true,
    compile: (call) => (call.args.length === 1 ? argument(call, 0) : coalesce(call)),
  },
  extremeFunction("greatest", "The greatest argument."),
  extremeFunction("least", "The least argument."),
];
