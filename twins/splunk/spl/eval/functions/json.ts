/** JSON functions. */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { type ExactJson, fieldText, jsonText, readExactJson } from "../../json/exact-json.ts";
import { changeAt, hasWildcard, type PathStep, readJsonPath, valuesAt } from "../../json/json-path.ts";
import { bindOnce, numberOf, textOf } from "../../relation/typed.ts";
import { singleText } from "../arithmetic.ts";
import { boolean, nothing, text, type Value } from "../value.ts";
import type { PlainFunction, Use } from "./declaration.ts";
import { type Entry, family, textArgument } from "./tools.ts";

/** Defines a row function of a JSON text and further texts. NULL for malformed JSON. */
function jsonFunction(
  name: string,
  run: (json: ExactJson, others: readonly (string | null)[]) => ExactJson | string | undefined,
) {
  return defineRowFunction(`spl.${name}`, (given, ...others) => {
    const json = given === null ? undefined : readExactJson(given);
    const result = json === undefined ? undefined : run(json, others);
    return result === undefined ? null : fieldText(result);
  });
}

const pathSteps = (path: string | null) => (path === null ? undefined : readJsonPath(path));
const memberStep = (name: string | null): readonly PathStep[] | undefined =>
  name === null ? undefined : [{ member: name }];

/** Reads the value at one path; for several paths, a list with an item for each. */
function extractor(read: typeof pathSteps) {
  return (json: ExactJson, paths: readonly (string | null)[]): ExactJson | undefined => {
    if (paths.length === 0) return json;
    const found = paths.map((path) => valueAt(json, read(path)));
    return paths.length === 1 ? found[0] : found.map((value) => value ?? null);
  };
}

function valueAt(json: ExactJson, path: readonly PathStep[] | undefined): ExactJson | undefined {
  if (path === undefined) return undefined;
  const values = valuesAt(json, path);
  return hasWildcard(path) && values.length > 0 ? values : values[0];
}

/** Applies changes, given as alternating paths and JSON values. */
function changer(
  read: typeof pathSteps,
  change: (before: ExactJson | undefined, value: ExactJson) => ExactJson | undefined,
) {
  return (json: ExactJson, pairs: readonly (string | null)[]): ExactJson => {
    let result = json;
    for (let index = 0; index < pairs.length; index += 2) {
      const path = read(pairs[index] ?? null);
      const value = readExactJson(pairs[index + 1] ?? "null") ?? null;
      if (path !== undefined) result = changeAt(result, path, (before) => change(before, value)) ?? result;
    }
    return result;
  };
}

const toList = (before: ExactJson | undefined): ExactJson[] =>
  before === undefined ? [] : Array.isArray(before) ? before : [before];

const extract = jsonFunction("json_extract", extractor(pathSteps));
const extractExact = jsonFunction("json_extract_exact", extractor(memberStep));
const keys = jsonFunction("json_keys", (json) => (json instanceof Map ? [...json.keys()] : undefined));
const setAt = jsonFunction(
  "json_set",
  changer(pathSteps, (_, value) => value),
);
const setExact = jsonFunction(
  "json_set_exact",
  changer(memberStep, (_, value) => value),
);
const appendAt = jsonFunction(
  "json_append",
  changer(pathSteps, (before, value) => [...toList(before), value]),
);
const extendAt = jsonFunction(
  "json_extend",
  changer(pathSteps, (before, value) => [...toList(before), ...(Array.isArray(value) ? value : [value])]),
);
const deleteAt = jsonFunction("json_delete", (json, names) => {
  if (!(json instanceof Map)) return json;
  return new Map([...json].filter(([name]) => !names.includes(name)));
});
const entriesOf = jsonFunction("json_entries", (json) => {
  if (!(json instanceof Map)) return undefined;
  return [...json].map(
    ([key, value]) =>
      new Map<string, ExactJson>([
        ["key", key],
        ["value", value],
      ]),
  );
});
const hasKey = jsonFunction("json_has_key_exact", (json, [name]) =>
  json instanceof Map ? String(json.has(name ?? "")) : "false",
);
const jsonTextOf = jsonFunction("json", jsonText);

/** A value as JSON text. A text that already is a JSON object or list is embedded as such. */
function jsonOf(value: Value): Sql {
  if (value.isNull) return sql`'null'`;
  if (value.type === "boolean")
    return sql`CASE WHEN ${value.sql} THEN 'true' WHEN NOT ${value.sql} THEN 'false' ELSE 'null' END`;
  if (value.type === "number") {
    if (!value.multi) return sql`coalesce(${textOf(value)}, 'null')`;
    return sql`coalesce('[' || array_to_string(${textOf(value)}, ',') || ']', 'null')`;
  }
  if (value.multi) return sql`coalesce(CAST(to_json(${value.sql}) AS VARCHAR), 'null')`;
  if (typeof value.constant === "string") return sql`CAST(${JSON.stringify(value.constant)} AS VARCHAR)`;
  return bindOnce(value.sql, (one) => {
    const asNumber = value.loose
      ? sql`WHEN ${numberOf({ ...value, sql: one })} IS NOT NULL THEN ${canonical({ ...value, sql: one })}`
      : sql``;
    return sql`CASE WHEN ${one} IS NULL THEN 'null' WHEN left(${one}, 1) IN ('{', '[') AND json_valid(${one}) THEN ${one} ${asNumber} ELSE CAST(to_json(${one}) AS VARCHAR) END`;
  });
}

/** A text that looks like a number, written as a JSON number. */
function canonical(value: Value): Sql {
  return textOf({ type: "number", multi: false, sql: numberOf(value) });
}

function members(args: readonly Value[], { fail }: Use): [Value, Value][] {
  if (args.length % 2 !== 0) fail();
  return args.flatMap((key, index): [Value, Value][] =>
    index % 2 === 0 ? [[key, args[index + 1] ?? nothing]] : [],
  );
}

type Caller = (...args: Sql[]) => Sql;

/** Declares a function of JSON and paths. */
function readFunction(
  name: string,
  syntax: string,
  summary: string,
  minArgs: number,
  maxArgs: number | undefined,
  run: Caller,
): Entry {
  return {
    name,
    syntax,
    summary,
    minArgs,
    maxArgs,
    compile: ([json = nothing, ...others], use) => ({
      ...text(run(singleText(json), ...others.map((other) => textArgument(other, use)))),
      loose: true,
    }),
  };
}

/** Declares a function of JSON and pairs of a path and a value. */
function writeFunction(name: string, summary: string, run: Caller): Entry {
  return {
    name,
    syntax: `${name}(json, path1, value1, …)`,
    summary,
    minArgs: 3,
    maxArgs: undefined,
    takesNull: true,
    compile([json = nothing, ...pairs], use) {
      const args = members(pairs, use).flatMap(([path, value]) => [textArgument(path, use), jsonOf(value)]);
      return { ...text(run(singleText(json), ...args)), loose: true };
    },
  };
}

const entries: readonly Entry[] = [
  readFunction("json", "json(text)", "The text if it is JSON, else null.", 1, 1, jsonTextOf),
  writeFunction("json_append", "The JSON with values appended to lists, each as one item.", appendAt),
  {
    name: "json_array",
    syntax: "json_array(value1, …)",
    summary: "A JSON list of the values.",
    minArgs: 0,
    maxArgs: undefined,
    takesNull: true,
    compile: (args) => ({ ...text(sql`'[' || ${joinWithCommas(args.map(jsonOf))} || ']'`), loose: true }),
  },
  readFunction(
    "json_delete",
    "json_delete(json, key1, …)",
    "The JSON object without these members.",
    2,
    undefined,
    deleteAt,
  ),
  readFunction(
    "json_entries",
    "json_entries(json)",
    "The members as a list of objects with `key` and `value`.",
    1,
    1,
    entriesOf,
  ),
  writeFunction(
    "json_extend",
    "The JSON with values appended to lists, the items of a list one by one.",
    extendAt,
  ),
  readFunction(
    "json_extract",
    "json_extract(json, [path1, …])",
    "The value at a path; for several paths, a list with an item for each.",
    1,
    undefined,
    extract,
  ),
  readFunction(
    "json_extract_exact",
    "json_extract_exact(json, [key1, …])",
    "The member with a name, which may contain any characters.",
    1,
    undefined,
    extractExact,
  ),
  {
    name: "json_has_key_exact",
    syntax: "json_has_key_exact(json, key)",
    summary: "Whether a JSON object has a member.",
    minArgs: 2,
    maxArgs: 2,
    compile: ([json = nothing, key = nothing], use) =>
      boolean(sql`coalesce(${hasKey(singleText(json), textArgument(key, use))} = 'true', FALSE)`),
  },
  readFunction("json_keys", "json_keys(json)", "The names of the members, as a JSON list.", 1, 1, keys),
  {
    name: "json_object",
    syntax: "json_object(key1, value1, …)",
    summary: "A JSON object with these members.",
    minArgs: 0,
    maxArgs: undefined,
    takesNull: true,
    compile(args, use) {
      const pairs = members(args, use).map(
        ([key, value]) => sql`CAST(to_json(${textArgument(key, use)}) AS VARCHAR) || ':' || ${jsonOf(value)}`,
      );
      return { ...text(sql`'{' || ${joinWithCommas(pairs)} || '}'`), loose: true };
    },
  },
  writeFunction("json_set", "The JSON with the values at these paths replaced or added.", setAt),
  writeFunction(
    "json_set_exact",
    "The JSON object with these members set; names may contain any characters.",
    setExact,
  ),
  {
    name: "json_valid",
    syntax: "json_valid(text)",
    summary: "Whether the text is JSON.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([json = nothing]) => boolean(sql`(${jsonTextOf(singleText(json))} IS NOT NULL)`),
  },
];

function joinWithCommas(texts: readonly Sql[]): Sql {
  return texts.length === 0 ? sql`''` : joined(texts, " || ',' || ");
}

export const jsonFunctions: readonly PlainFunction[] = family("JSON", entries);
