/** `rex`: extracts fields by the named groups of a regular expression, or edits a field like `sed`. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { asList, text, type Value } from "../eval/value.ts";
import type { Pattern } from "../regex/pcre.ts";
import { extractAllSql, extractFirstSql, offsetsSql } from "../regex/regex-sql.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { bindOnce, lambdaParameter, mapList, textOf } from "../relation/typed.ts";
import { count, oneOf, text as textOption } from "../syntax/option-types.ts";
import { orExisting } from "./or-existing.ts";
import { compileRegex, readRegexText } from "./regex-argument.ts";
import { applyEdits, readSed, type SedEdit } from "./sed.ts";

const optionTypes = { field: textOption, max_match: count, offset_field: textOption, mode: oneOf("sed") };

interface Extraction {
  field: string;
  pattern: Pattern;
  /** 0: unlimited. */
  maxMatch: number;
  offsetField: string | undefined;
}

type RexArguments =
  | ({ mode: "extract" } & Extraction)
  | { mode: "sed"; field: string; edits: readonly SedEdit[] };

export const rex = defineCommand({
  name: "rex",
  kind: "streaming",
  parse(reader): RexArguments {
    const before = reader.options(optionTypes);
    const written = readRegexText(reader);
    const options = { ...before, ...reader.options(optionTypes) };
    const { field = "_raw", max_match: maxMatch = 1, offset_field: offsetField, mode } = options;
    if (mode === "sed") return { mode, field, edits: readSed(reader, written) };
    const pattern = compileRegex(reader, written);
    if (pattern.groups.every((name) => name === undefined)) {
      reader.fail(
        `The regex '${written}' does not extract anything. It should specify at least one named group. Format: (?<name>...).`,
      );
    }
    return { mode: "extract", field, pattern, maxMatch, offsetField };
  },
  compile(args, input) {
    const column = columnOf(input, args.field);
    if (column === undefined) return input;
    const value = fieldValue(column);
    if (args.mode === "extract") return extractFields(input, args, oneText(value));
    const texts = textOf(value);
    const edited = value.multi
      ? mapList(texts, (one) => applyEdits(one, args.edits))
      : applyEdits(texts, args.edits);
    return extend(input, new Map([[args.field, { ...text(edited), multi: value.multi }]]));
  },
});

/** Joins a multi-value into lines of one text. */
function oneText(value: Value): Sql {
  return value.multi ? sql`array_to_string(${textOf(value)}, CAST(${"\n"} AS VARCHAR))` : textOf(value);
}

function extractFields(
  input: Relation,
  { pattern, maxMatch, offsetField }: Extraction,
  subject: Sql,
): Relation {
  const changes = new Map<string, Value>();
  for (const name of new Set(pattern.groups)) {
    if (name === undefined) continue;
    const groups = pattern.groups.flatMap((group, index) => (group === name ? [index + 1] : []));
    changes.set(name, orExisting(matchedValue(subject, pattern, groups, maxMatch), input, name));
  }
  if (offsetField !== undefined)
    changes.set(offsetField, orExisting(text(offsetsSql(subject, pattern)), input, offsetField));
  return extend(input, changes);
}

/** The text matched by the groups of one name; NULL for no match or an empty one. */
function matchedValue(subject: Sql, pattern: Pattern, groups: readonly number[], maxMatch: number): Value {
  const [first = 1, ...others] = groups;
  if (maxMatch === 1) {
    const one = (group: number) => sql`nullif(${extractFirstSql(subject, pattern, group)}, '')`;
    const value = others.reduce((sofar, group) => sql`coalesce(${sofar}, ${one(group)})`, one(first));
    return text(value);
  }
  const all = (group: number) => extractAllSql(subject, pattern, group, maxMatch);
  const list = others.reduce((sofar, group) => sql`list_concat(${sofar}, ${all(group)})`, all(first));
  const item = lambdaParameter();
  const given = sql`list_filter(${list}, lambda ${item}: ${item} IS NOT NULL AND ${item} <> '')`;
  return asList(text(bindOnce(given, (values) => sql`CASE WHEN len(${values}) > 0 THEN ${values} END`)));
}
