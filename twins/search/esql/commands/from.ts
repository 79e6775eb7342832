/** FROM: the events, and their fields as columns. */
import { columnOf, type Field } from "../../../datasets/fields.ts";
import { identifier, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { Compiler } from "../compiler.ts";
import { parsingError, UnrecognisedEsql } from "../errors.ts";
import type { Column } from "../pipeline.ts";
import type { Command } from "../syntax.ts";
import type { DataType } from "../types.ts";

export interface Source {
  /** Which events are meant by the names behind FROM; complete in itself, over `documents AS d`. @throws VendorError */
  select(command: FromCommand): Sql;
}

export type FromCommand = Extract<Command, { kind: "from" }>;

const metadataColumns: Readonly<Record<string, { type: DataType; source: Sql }>> = {
  _index: { type: "keyword", source: sql`d.${identifier("_index")}` },
  _id: { type: "keyword", source: sql`d.${identifier("_id")}` },
  _version: { type: "long", source: sql`d.${identifier("_version")}` },
  _source: { type: "source", source: sql`d.${identifier("_source")}` },
};

export function compileFrom(compiler: Compiler, command: FromCommand, source: Source): void {
  const { pipeline, context } = compiler;
  const predicate = source.select(command);
  const columns = [...context.fields.all().flatMap((field) => fieldColumns(field)), ...metadata(command)];
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

type SourceColumn = Omit<Column, "ref"> & { source: Sql };

/**
 * A string is text, and keyword under the name that dynamic mapping gives it. Of several values text has the order of the event; the
 * vendor keeps numbers in theirs, and keywords in theirs, each once.
 */
function fieldColumns(field: Field): SourceColumn[] {
  const source = sql`d.${columnOf(field)}`;
  const { name, multi } = field;
  if (field.type === "text") {
    return [
      {
        name: `${name}.keyword`,
        type: "keyword",
        multi,
        source: multi ? sql`list_sort(list_distinct(${source}))` : source,
      },
      { name, type: "text", multi, source },
    ];
  }
  const type = field.type === "date" ? "datetime" : field.type;
  return [{ name, type, multi, source: multi ? sql`list_sort(${source})` : source }];
}

function metadata({ metadata: names }: FromCommand): SourceColumn[] {
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
