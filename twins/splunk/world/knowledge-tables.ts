/** The tables of knowledge objects, which searches refer to by name. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { appColumn, ownedWithin, ownerColumn } from "./ownership.ts";

const macros = defineTable({
  description: "Named parts of searches.",
  key: "name",
  within: ownedWithin,
  columns: {
    name: {
      type: z
        .string()
        .regex(/^[^()`\s][^()`]*(\(\d+\))?$/, "must be a name, or a name with (2) for two arguments"),
      description: "The name; with arguments also their number: name(2).",
    },
    args: { type: z.array(z.string().min(1)).default([]), description: "The names of its arguments." },
    definition: {
      type: z.string(),
      description: "Its text, with $name$ for an argument.",
    },
    iseval: {
      type: z.boolean().default(false),
      description: "Whether the definition is an expression that computes the text.",
    },
    validation: {
      type: z.string().default(""),
      description: "An expression over the arguments that must be true or return no text; empty: no check.",
    },
    errormsg: { type: z.string().default(""), description: "Error message when the validation fails." },
    owner: ownerColumn,
    app: appColumn,
    sharing: { type: z.enum(["user", "app", "global"]).default("global"), description: "Who sees it." },
  },
});

const lookups = defineTable({
  description: "Lookup files.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The name of the file: hosts.csv." },
    fields: { type: z.array(z.string().min(1)), description: "The names of its columns, in their order." },
    rows: {
      type: z.array(z.record(z.string(), z.string())).default([]),
      description: "Its rows: values by column; missing ones are empty.",
    },
  },
});

const lookupDefinitions = defineTable({
  description: "Lookup definitions: how to match values in a lookup file.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "What searches call it." },
    filename: { type: z.string(), description: "The lookup table.", references: "lookups.name" },
    match_type: {
      type: z.record(z.string(), z.enum(["EXACT", "WILDCARD", "CIDR"])).default({}),
      description: "Match type by column; EXACT for other columns.",
    },
    case_sensitive_match: { type: z.boolean().default(true), description: "Whether case counts." },
    min_matches: {
      type: z.number().int().min(0).max(1000).default(0),
      description: "Missing matches up to this number are filled with the default match.",
    },
    max_matches: {
      type: z.number().int().min(1).max(1000).nullable().default(null),
      description: "Maximum of matches; when empty 1000, or 1 with a time column.",
    },
    default_match: { type: z.string().default(""), description: "The value of a default match." },
    time_field: {
      type: z.string().nullable().default(null),
      description: "The column with the time from which a row is valid.",
    },
    time_format: {
      type: z.string().nullable().default(null),
      description: "Format of that column; seconds since 1970 when empty.",
    },
    max_offset_secs: {
      type: z.number().nullable().default(null),
      description: "How many seconds after the row's time an event may be at most.",
    },
    min_offset_secs: {
      type: z.number().nullable().default(null),
      description: "How many seconds after the row's time an event must be at least.",
    },
  },
});

const tags = defineTable({
  description: "Tags of values of fields.",
  key: "name",
  columns: {
    name: {
      type: z.string().regex(/^[^=]+=[\s\S]+$/, "must be field=value"),
      description: "The field and the value: host=web-1.",
    },
    tags: { type: z.array(z.string().min(1)).min(1), description: "The tags of that value." },
  },
});

const eventTypes = defineTable({
  description: "Event types, each defined by a search.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The name." },
    search: { type: z.string().min(1), description: "The search that finds its events." },
    disabled: { type: z.boolean().default(false), description: "Whether it is ignored." },
  },
});

const dataModels = defineTable({
  description: "Data models: datasets with common field names.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The name: Network_Traffic." },
    objects: {
      type: z
        .array(
          z.strictObject({
            name: z.string().min(1),
            constraint: z.string().default(""),
            fields: z.record(z.string(), z.string()).default({}),
          }),
        )
        .default([]),
      description:
        "Its datasets, the root first: name, the search that selects the events, and the names of the fields in the events.",
    },
    definition: {
      type: z.string().default(""),
      description: "The model as sent to the API, as JSON; searches use its objects.",
    },
    acceleration: {
      type: z.string().default('{"enabled":false}'),
      description: "Acceleration settings, as JSON; without effect.",
    },
  },
});

export const knowledgeTables = {
  macros,
  lookups,
  lookup_definitions: lookupDefinitions,
  tags,
  event_types: eventTypes,
  data_models: dataModels,
};

export type MacroRow = Readonly<RowOf<typeof macros.columns>>;
export type DataModelRow = Readonly<RowOf<typeof dataModels.columns>>;
export type LookupDefinitionRow = Readonly<RowOf<typeof lookupDefinitions.columns>>;
