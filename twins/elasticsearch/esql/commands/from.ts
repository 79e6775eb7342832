/** FROM: events, with their fields as columns. */

import { type Field, type FieldCatalog, fieldValue } from "@offhook/log-store/fields";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { namesOf } from "../../indices/field-types.ts";
import type { Compiler } from "../compiler.ts";
import { parsingError, UnrecognisedEsql } from "../errors.ts";
import { ipFromDigitsSql } from "../ip-sql.ts";
import type { Column } from "../pipeline.ts";
import type { Command } from "../syntax.ts";
import type { DataType } from "../types.ts";

export interface Source {
  /**
   * Resolves the names after FROM to a condition over `documents AS d` and the fields of these events. @throws
   * VendorError
   */
  select(command: FromCommand): { predicate: Sql; fields: FieldCatalog };
}

export type FromCommand = Extract<Command, { kind: "from" }>;

const metadataColumns = lookupTable<{ type: DataType; source: Sql }>({
  _index: { type: "keyword", source: sql`d.${identifier("_index")}` },
  _id: { type: "keyword", source: sql`d.${identifier("_id")}` },
  _version: { type: "long", source: sql`d.${identifier("_version")}` },
  _source: { type: "source", source: sql`d.${identifier("_source")}` },
});

export function compileFrom(compiler: Compiler, command: FromCommand, source: Source): void {
  const { pipeline } = compiler;
  const { predicate, fields } = source.select(command);
  const columns = [...fields.all().flatMap((field) => fieldColumns(field)), ...readMetadata(command)];
  const named = new Map(columns.map((column) => [column.name, column]));
  const sorted = [...named.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  pipeline.base(
    sorted.map(({ name, type, multi, source: column }) => ({
      column: { name, type, multi, ref: pipeline.freshRef() },
      source: column,
    })),
    sql`FROM documents AS d WHERE ${predicate}`,
    sql`d.${identifier("_row")}`,
  );
}

/** Mapped types that are a 32-bit integer in ES|QL. */
const smallIntegers: ReadonlySet<string> = new Set(["integer", "short", "byte"]);

/** Distinct addresses in numeric order. */
function addressesSql(texts: Sql): Sql {
  return sql`list_sort(list_transform(list_distinct(${texts}), lambda t: ${ipFromDigitsSql(raw("t"))}))`;
}

type SourceColumn = Omit<Column, "ref"> & { source: Sql };

/**
 * A string field is `text`, and `keyword` under its sub-field's name. Several values of a text keep the event's order;
 * the vendor sorts numbers, and sorts and deduplicates keywords.
 */
function fieldColumns(field: Field): SourceColumn[] {
  const source = fieldValue(field);
  const { name, multi } = field;
  if (field.type === "text") {
    return [
      ...namesOf(field)
        .slice(1)
        .map((sub) => ({
          name: sub,
          type: "keyword" as const,
          multi,
          source: multi ? sql`list_sort(list_distinct(${source}))` : source,
        })),
      { name, type: "text", multi, source },
    ];
  }
  if (field.type === "ip") {
    return [{ name, type: "ip", multi, source: multi ? addressesSql(source) : ipFromDigitsSql(source) }];
  }
  if (field.type === "keyword") {
    return [
      { name, type: "keyword", multi, source: multi ? sql`list_sort(list_distinct(${source}))` : source },
    ];
  }
  if (smallIntegers.has(field.mapping?.type ?? "")) {
    const small = sql`CAST(${source} AS ${raw(multi ? "INTEGER[]" : "INTEGER")})`;
    return [{ name, type: "integer", multi, source: multi ? sql`list_sort(${small})` : small }];
  }
  const type = field.type === "date" ? "datetime" : field.type;
  return [{ name, type, multi, source: multi ? sql`list_sort(${source})` : source }];
}

function readMetadata({ metadata: names }: FromCommand): SourceColumn[] {
  return names.map(({ name, at }) => {
    const known = Object.hasOwn(metadataColumns, name) ? metadataColumns[name] : undefined;
    if (known) return { name, multi: false, ...known };
    if (name === "_ignored")
      return { name, type: "keyword", multi: false, source: raw("CAST(NULL AS VARCHAR)") };
    if (name === "_index_mode" || name === "_tier")
      throw new UnrecognisedEsql(at, `the metadata field ${name}`);
    throw parsingError(at, `unsupported metadata field [${name}]`);
  });
}
