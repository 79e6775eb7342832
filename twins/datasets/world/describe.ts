/** The tables of an event world in plain language. */
import type { ColumnDescription, TableDescription } from "../../sandbox/world.ts";
import type { Field, FieldCatalog, FieldType } from "../fields.ts";

const typeWords: Record<FieldType, string> = {
  text: "text",
  long: "integer",
  unsigned_long: "integer",
  double: "number",
  boolean: "boolean",
  date: "timestamp",
};

export function describeEvents(fields: FieldCatalog): TableDescription {
  return {
    name: "events",
    description:
      "The log events. A row has the event's own members, nested as they were written; a filter names a field by its dotted name, and a new member makes a new field.",
    key: "_id",
    columns: [
      column("_id", "text", "Names the event within its index; made when left out."),
      column(
        "_index",
        "text",
        "The index that the event was written under; the service's own when left out.",
      ),
      column("_version", "integer", "How often the event was written; 1 when left out."),
      column(
        "_seq_no",
        "integer",
        "Number of the write that the event is from; given only with a whole state.",
      ),
      column(
        "_source",
        "text",
        "The event as JSON text, when the row's members alone would not give it back: integers beyond 2^53, 1.0, spaces.",
      ),
      ...fields.all().map((field) => describeField(field, fields.timeField?.name)),
    ],
  };
}

function describeField({ name, type, multi }: Field, timeField: string | undefined): ColumnDescription {
  const word = multi ? `list of ${typeWords[type]}` : typeWords[type];
  const several = multi ? " One value, or a list of several." : "";
  const when = name === timeField ? " It says when the event happened." : "";
  return column(name, word, `A field of the events.${several}${when}`);
}

export const fieldTypes = ["text", "long", "unsigned_long", "double", "boolean", "date"] as const;

export const fieldsDescription: TableDescription = {
  name: "fields",
  description:
    "The fields of the events with their types. Events make them; a whole state may give them, so that types survive a snapshot.",
  key: "name",
  columns: [
    { ...column("name", "text", "Dotted name; case counts."), required: true },
    { ...column("type", "text", "What the field holds."), required: true, allowed: fieldTypes },
    column("multi", "boolean", "Whether some event has several values."),
    column("time", "boolean", "Whether it says when an event happened; of one field at most."),
  ],
};

function column(name: string, type: string, description: string): ColumnDescription {
  return { name, type, required: false, description };
}
