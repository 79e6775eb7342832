/** Informational functions. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, numberOf } from "../../relation/typed.ts";
import { singleText } from "../arithmetic.ts";
import { boolean, constant, nothing, text, type Value } from "../value.ts";
import type { PlainFunction } from "./declaration.ts";

type Entry = Pick<PlainFunction, "name" | "syntax" | "summary" | "compile">;

const entries: readonly Entry[] = [
  {
    name: "isarray",
    syntax: "isarray(value)",
    summary: "Whether it is a JSON array.",
    compile: ([value = nothing]) => isJson(value, "ARRAY"),
  },
  {
    name: "isbool",
    syntax: "isbool(value)",
    summary: "Whether it is a boolean.",
    compile: ([value = nothing]) => constant(value.type === "boolean"),
  },
  {
    name: "isdouble",
    syntax: "isdouble(value)",
    summary: "Whether it is a number with a fraction.",
    compile: ([value = nothing]) => testNumber(value, (one) => sql`coalesce(${one} <> floor(${one}), FALSE)`),
  },
  {
    name: "isint",
    syntax: "isint(value)",
    summary: "Whether it is an integer.",
    compile: ([value = nothing]) => testNumber(value, (one) => sql`coalesce(${one} = floor(${one}), FALSE)`),
  },
  {
    name: "ismv",
    syntax: "ismv(value)",
    summary: "Whether it has more than one value.",
    compile: ([value = nothing]) =>
      value.multi ? boolean(sql`coalesce(len(${value.sql}) > 1, FALSE)`) : constant(false),
  },
  {
    name: "isnotnull",
    syntax: "isnotnull(value)",
    summary: "Whether there is a value.",
    compile: ([value = nothing]) => boolean(sql`(${value.sql} IS NOT NULL)`),
  },
  {
    name: "isnull",
    syntax: "isnull(value)",
    summary: "Whether there is no value.",
    compile: ([value = nothing]) => boolean(sql`(${value.sql} IS NULL)`),
  },
  {
    name: "isnum",
    syntax: "isnum(value)",
    summary: "Whether it is a number.",
    compile: ([value = nothing]) => testNumber(value, (one) => sql`(${one} IS NOT NULL)`),
  },
  {
    name: "isobject",
    syntax: "isobject(value)",
    summary: "Whether it is a JSON object.",
    compile: ([value = nothing]) => isJson(value, "OBJECT"),
  },
  {
    name: "isstr",
    syntax: "isstr(value)",
    summary: "Whether it is a text.",
    compile([value = nothing]) {
      if (value.type !== "text") return constant(false);
      if (!value.loose) return boolean(sql`(${value.sql} IS NOT NULL)`);
      return boolean(
        bindOnce(
          value.sql,
          (one) => sql`(${one} IS NOT NULL AND ${numberOf({ ...value, sql: one })} IS NULL)`,
        ),
      );
    },
  },
  {
    name: "typeof",
    syntax: "typeof(value)",
    summary: "`Number`, `String`, `Boolean`; `Invalid` without a value.",
    compile([value = nothing]) {
      if (value.isNull) return constant("Invalid");
      return text(
        bindOnce(
          value.sql,
          (one) => sql`CASE WHEN ${one} IS NULL THEN 'Invalid' ELSE ${typeName({ ...value, sql: one })} END`,
        ),
      );
    },
  },
];

function typeName(value: Value): Sql {
  if (value.type !== "text") return raw(value.type === "number" ? "'Number'" : "'Boolean'");
  if (!value.loose) return raw("'String'");
  return sql`CASE WHEN ${numberOf(value)} IS NOT NULL THEN 'Number' ELSE 'String' END`;
}

function isJson(value: Value, type: "ARRAY" | "OBJECT"): Value {
  if (value.type !== "text" || value.isNull) return constant(false);
  return boolean(
    bindOnce(
      singleText(value),
      (one) => sql`coalesce(CASE WHEN json_valid(${one}) THEN json_type(${one}) = ${type} END, FALSE)`,
    ),
  );
}

function testNumber(value: Value, test: (one: Sql) => Sql): Value {
  if (value.type === "boolean" || (value.type === "text" && !value.loose)) return constant(false);
  return boolean(bindOnce(numberOf(value), test));
}

export const informationalFunctions: readonly PlainFunction[] = entries.map((entry) => ({
  ...entry,
  takesNull: true,
  kind: "plain",
  family: "informational",
  minArgs: 1,
  maxArgs: 1,
}));
