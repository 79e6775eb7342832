/** The tables of an event world in plain language. */
import type { ColumnDescription, TableDescription } from "@offhook/platform/world/world";
import { timeFormatNames } from "../dates/time-formats.ts";
import type { Field, FieldCatalog, FieldType } from "../fields.ts";

const typeWords: Record<FieldType, string> = {
  text: "text",
  keyword: "text",
  long: "integer",
  unsigned_long: "integer",
  double: "number",
  boolean: "boolean",
  date: "timestamp",
  ip: "text",
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

export const fieldTypes = [
  "text",
  "keyword",
  "long",
  "unsigned_long",
  "double",
  "boolean",
  "date",
  "ip",
] as const;

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
    {
      ...column(
        "format",
        "text",
        "How the dataset writes its times; events that are written may write them so too.",
      ),
      allowed: timeFormatNames,
    },
    column("blanks", "boolean", "Whether a dash, an empty text and the like stand for no time in it."),
  ],
};

export const indicesDescription: TableDescription = {
  name: "indices",
  description:
    "The indices that were made with a mapping of their own. A whole state gives them, so that mappings survive a snapshot.",
  key: "name",
  columns: [
    { ...column("name", "text", "Name of the index."), required: true },
    { ...column("definition", "object", "Its mapping, settings and aliases."), required: true },
    column(
      "fields",
      "list of object",
      "Its fields with their types, those that documents have added among them.",
    ),
  ],
};

function column(name: string, type: string, description: string): ColumnDescription {
  return { name, type, required: false, description };
}
