/** The tables of knowledge objects: what searches refer to by name. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { appColumn, ownedWithin, ownerColumn } from "./ownership.ts";

const macros = defineTable({
  description: "Parts of searches that stand under a name.",
  key: "name",
  within: ownedWithin,
  columns: {
    name: {
      type: z
        .string()
        .regex(/^[^()`\s][^()`]*(\(\d+\))?$/, "must be a name, or a name with (2) for two arguments"),
      description: "The name; of one that takes arguments with their number behind it: name(2).",
    },
    args: { type: z.array(z.string().min(1)).default([]), description: "The names of its arguments." },
    definition: {
      type: z.string(),
      description: "What it stands for, with $name$ where an argument goes.",
    },
    iseval: {
      type: z.boolean().default(false),
      description: "Whether the definition is an expression whose text is what it stands for.",
    },
    validation: {
      type: z.string().default(""),
      description:
        "An expression over the arguments that must be true, or give no text; empty: any are taken.",
    },
    errormsg: { type: z.string().default(""), description: "What is said when it is not true." },
    owner: ownerColumn,
    app: appColumn,
    sharing: { type: z.enum(["user", "app", "global"]).default("global"), description: "Who sees it." },
  },
});

const lookups = defineTable({
  description: "Lookup tables, each a file of rows.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The name of the file: hosts.csv." },
    fields: { type: z.array(z.string().min(1)), description: "The names of its columns, in their order." },
    rows: {
      type: z.array(z.record(z.string(), z.string())).default([]),
      description: "Its rows, each the values by column; what is left out is empty.",
    },
  },
});

const lookupDefinitions = defineTable({
  description: "How values are looked up in a table.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "What searches call it." },
    filename: { type: z.string(), description: "The lookup table.", references: "lookups.name" },
    match_type: {
      type: z.record(z.string(), z.enum(["EXACT", "WILDCARD", "CIDR"])).default({}),
      description: "By column how values match; exactly when not named.",
    },
    case_sensitive_match: { type: z.boolean().default(true), description: "Whether case counts." },
    min_matches: {
      type: z.number().int().min(0).max(1000).default(0),
      description: "Fewer matches are filled up with the default match.",
    },
    max_matches: {
      type: z.number().int().min(1).max(1000).nullable().default(null),
      description: "More matches are left out; when empty 1000, or 1 with a time column.",
    },
    default_match: { type: z.string().default(""), description: "The value that fills up." },
    time_field: {
      type: z.string().nullable().default(null),
      description: "The column that says from when on a row holds.",
    },
    time_format: {
      type: z.string().nullable().default(null),
      description: "How that column is written; seconds since 1970 when empty.",
    },
    max_offset_secs: {
      type: z.number().nullable().default(null),
      description: "How much later than a row's time an event may be.",
    },
    min_offset_secs: {
      type: z.number().nullable().default(null),
      description: "How much later than a row's time an event must be.",
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
  description: "Kinds of events, each with the search that finds them.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The name." },
    search: { type: z.string().min(1), description: "The search that finds its events." },
    disabled: { type: z.boolean().default(false), description: "Whether it counts for nothing." },
  },
});

const dataModels = defineTable({
  description: "Data models: data sets with common names for their fields.",
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
        "Its data sets, the root first: name, the search that selects the events, and the fields' names in the events.",
    },
    definition: {
      type: z.string().default(""),
      description: "The model as it was sent to the API, as JSON; searches go by its objects.",
    },
    acceleration: {
      type: z.string().default('{"enabled":false}'),
      description: "How it is to be accelerated, as JSON; it has no effect.",
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
