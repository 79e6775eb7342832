/** `outputlookup`: writes the rows to a lookup table, and passes them on unchanged. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { type Rows, relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { boolean, count, oneOf, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";

/** Rows of a lookup table. */
const MAX_ROWS = 500_000;

export const outputlookup = defineCommand({
  name: "outputlookup",
  kind: "events",
  parse(reader) {
    const before = reader.options(optionTypes);
    const name = reader.text("the name of a lookup table");
    const options = { ...before, ...reader.options(optionTypes) };
    rejectUnserved(reader, "outputlookup", options);
    const {
      append = false,
      create_empty: createEmpty = false,
      override_if_empty: overrideIfEmpty = true,
    } = options;
    const {
      key_field: keyField,
      output_format: format = "splunk_sv_csv",
      allow_updates: mayUpdate = true,
    } = options;
    const max = options.max === undefined || options.max === 0 ? MAX_ROWS : options.max;
    return { name, append, createEmpty, overrideIfEmpty, keyField, format, mayUpdate, max };
  },
  async compile(args, input, context) {
    const rows = await fetchRows(input, context);
    const { format, max } = args;
    const written = lookupRows({ ...rows, rows: rows.rows.slice(0, max) }, format);
    if (rows.rows.length === 0) await writeNothing(args, context);
    else if (args.keyField !== undefined && args.mayUpdate) {
      await replaceByKey(args.name, written, args.keyField, context);
    } else {
      await context.knowledge.writeLookup(args.name, written, args.append ? "append" : "replace");
    }
    return relationOf(rows, input.kind);
  },
});

const optionTypes = {
  append: boolean,
  create_empty: boolean,
  override_if_empty: boolean,
  max: count,
  key_field: text,
  allow_updates: boolean,
  createinapp: boolean,
  create_context: oneOf("app", "user", "system"),
  output_format: oneOf("splunk_sv_csv", "splunk_mv_csv"),
};

async function fetchRows(input: Relation, context: SearchContext): Promise<Rows> {
  const rows = await context.run(input, MAX_ROWS + 1);
  if (rows.rows.length <= MAX_ROWS) return rows;
  throw commandError("outputlookup", `A lookup table holds ${MAX_ROWS} rows at most.`, "run");
}

/** The rows to write, without internal fields other than `_time` and `_key`. */
function lookupRows({ fields, rows }: Rows, format: "splunk_sv_csv" | "splunk_mv_csv"): Rows {
  const places = fields.flatMap(({ name }, index) =>
    !name.startsWith("_") || name === "_time" || name === "_key" ? [index] : [],
  );
  const single = format === "splunk_sv_csv";
  return {
    fields: places.flatMap((index) => {
      const field = fields[index];
      if (field === undefined) return [];
      const { name, type, multi } = field;
      return [single && multi ? ({ name, type: "text", multi: false } as const) : { name, type, multi }];
    }),
    rows: rows.map((row) =>
      places.map((index) => {
        const value = row[index] ?? null;
        return single && Array.isArray(value) ? value.join("\n") : value;
      }),
    ),
  };
}

async function writeNothing(
  {
    name,
    append,
    createEmpty,
    overrideIfEmpty,
  }: { name: string; append: boolean; createEmpty: boolean; overrideIfEmpty: boolean },
  { knowledge }: SearchContext,
): Promise<void> {
  if (append || !overrideIfEmpty) return;
  if (createEmpty) await knowledge.writeLookup(name, { fields: [], rows: [] }, "replace");
  else await knowledge.removeLookup(name);
}

/** Updates the table's rows by key, and appends rows with new keys. */
async function replaceByKey(
  name: string,
  written: Rows,
  keyField: string,
  { knowledge }: SearchContext,
): Promise<void> {
  const before = (await knowledge.lookup(name)) ?? { fields: [], rows: [] };
  const byKey = new Map<string, Map<string, ResultValue>>();
  let unnamed = 0;
  for (const table of [before, written]) {
    const names = table.fields.map((field) => field.name);
    for (const row of table.rows) {
      const values = new Map(names.map((field, index) => [field, row[index] ?? null]));
      const key = values.get(keyField) ?? null;
      const place = key === null ? `#${unnamed++}` : `=${key}`;
      byKey.set(place, new Map([...(byKey.get(place) ?? []), ...values]));
    }
  }
  const fields = [
    ...before.fields,
    ...written.fields.filter(({ name: field }) => before.fields.every((one) => one.name !== field)),
  ];
  const rows = [...byKey.values()].map((values) => fields.map((field) => values.get(field.name) ?? null));
  await knowledge.writeLookup(name, { fields, rows }, "replace");
}
