/** `tags`: adds the tags of field values. */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { bindOnce, lambdaParameter, type Typed, textOf } from "../relation/typed.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { boolean, text } from "../syntax/option-types.ts";

interface TaggedValue {
  /** May have `*` wildcards. */
  value: string;
  tags: readonly string[];
}

export const tags = defineCommand({
  name: "tags",
  kind: "streaming",
  parse(reader) {
    const optionTypes = { outputfield: text, inclname: boolean, inclvalue: boolean };
    const { names, options } = readFieldsAndOptions(reader, optionTypes);
    const { outputfield, inclname = false, inclvalue = false } = options;
    return { names, outputField: outputfield, withName: inclname, withValue: inclvalue };
  },
  compile({ names, outputField, withName, withValue }, input, context) {
    const found = taggedFields(input, names, context);
    if (outputField === undefined) {
      const plain = { name: false, value: false };
      return extend(
        input,
        new Map(found.map(({ name, values }) => [`tag::${name}`, tagList(input, name, values, plain)])),
      );
    }
    const parts = { name: withName, value: withValue };
    const lists = found.map(
      ({ name, values }) => sql`coalesce(${tagList(input, name, values, parts).sql}, [])`,
    );
    if (lists.length === 0) return input;
    const all = sql`list_concat(${joined([sql`CAST([] AS VARCHAR[])`, ...lists], ", ")})`;
    return extend(input, new Map([[outputField, { type: "text", multi: true, sql: nonEmpty(all) }]]));
  },
});

/** The tagged values of existing fields, restricted to `names` if given. */
function taggedFields(input: Relation, names: readonly string[], { knowledge }: SearchContext) {
  const byField = new Map<string, TaggedValue[]>();
  const seen = new Set<string>();
  for (const { field, value } of knowledge.tagged("*")) {
    const pair = JSON.stringify([field, value]);
    const isMeant = names.length === 0 || names.includes(field);
    if (seen.has(pair) || !isMeant || columnOf(input, field) === undefined) continue;
    seen.add(pair);
    const values = byField.get(field) ?? [];
    values.push({ value, tags: knowledge.tagsOf(field, value) });
    byField.set(field, values);
  }
  return [...byField].map(([name, values]) => ({ name, values }));
}

/** The distinct tags of a field's values; NULL when there are none. */
function tagList(
  input: Relation,
  name: string,
  values: readonly TaggedValue[],
  parts: { name: boolean; value: boolean },
): Typed {
  const column = columnOf(input, name);
  const field = column === undefined ? undefined : fieldValue(column);
  const present =
    field === undefined ? sql`CAST([] AS VARCHAR[])` : field.multi ? textOf(field) : sql`[${textOf(field)}]`;
  const one = lambdaParameter();
  const lists = values.map(({ value, tags: names }) => {
    const labels = names.map(
      (tag) =>
        sql`${parts.name ? `${name}::` : ""} || ${parts.value ? sql`${one} || '::'` : sql`''`} || ${tag}`,
    );
    return sql`CASE WHEN ${matches(one, value)} THEN [${joined(labels, ", ")}] ELSE [] END`;
  });
  const perValue = sql`list_transform(${present}, lambda ${one}: list_concat(${joined([sql`CAST([] AS VARCHAR[])`, ...lists], ", ")}))`;
  return { type: "text", multi: true, sql: nonEmpty(sql`list_distinct(flatten(${perValue}))`) };
}

function matches(value: Sql, pattern: string): Sql {
  if (!pattern.includes("*")) return sql`${value} = ${pattern}`;
  const like = pattern.replace(/[%_\\]/g, "\\$&").replaceAll("*", "%");
  return sql`${value} LIKE ${like} ESCAPE '\\'`;
}

function nonEmpty(list: Sql): Sql {
  return bindOnce(list, (all) => sql`CASE WHEN len(${all}) > 0 THEN list_sort(${all}) END`);
}
