/** The tables of the event collector: indexes and tokens. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { findInvalid } from "../conf/formats.ts";
import { indexFormats } from "../conf/index-formats.ts";

/** Name of an index; the platform's own begin with `_`. */
const indexName = z
  .string()
  .regex(/^[a-z0-9_][a-z0-9_-]{0,79}$/, "must be the name of an index: lower-case letters, digits, _ and -");

/** Settings with names and formats of `indexes.conf`. */
const indexSettings = z.record(z.string(), z.string()).superRefine((settings, context) => {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(indexFormats, name));
  if (unknown !== undefined) context.addIssue(`${unknown} is no setting of an index`);
  const wrong = findInvalid(indexFormats, settings);
  if (wrong !== undefined) context.addIssue(`${wrong.name} must be ${wrong.format.description}`);
});

const indexes = defineTable({
  description: "The indexes, with or without events.",
  key: "name",
  columns: {
    name: { type: indexName, description: "The name; the platform's own begin with _." },
    disabled: { type: z.boolean().default(false), description: "Whether nothing can be written to it." },
    datatype: {
      type: z.enum(["event", "metric"]).default("event"),
      description: "What it holds; both kinds are searched alike.",
    },
    settings: {
      type: indexSettings.default({}),
      description: "Its settings, by their names in indexes.conf; they have no effect on stored events.",
    },
  },
});

const hecTokens = defineTable({
  description: "The tokens of the event collector.",
  key: "name",
  columns: {
    name: { type: z.string().min(1), description: "The name of the input that the token belongs to." },
    token_sha256: {
      type: z.string().regex(/^[0-9a-f]{64}$/),
      description: "SHA-256 of the token, in hexadecimal; unique.",
    },
    disabled: { type: z.boolean().default(false), description: "Whether it is switched off." },
    description: { type: z.string().default(""), description: "What it is for." },
    index: {
      type: indexName.default("main"),
      description: "The index of events that name none.",
      references: "indexes.name",
      mayDangle: true,
    },
    indexes: {
      type: z.array(indexName).default([]),
      description: "The indexes that it may write to; any when empty.",
      references: "indexes.name",
      mayDangle: true,
    },
    host: { type: z.string().default("splunk:8088"), description: "The host of events that name none." },
    source: {
      type: z.string().default(""),
      description: "The source of events that name none; http: and the token's name when empty.",
    },
    sourcetype: {
      type: z.string().default("httpevent"),
      description: "The source type of events that name none.",
    },
    use_ack: { type: z.boolean().default(false), description: "Whether requests are acknowledged." },
    allow_query_string_auth: {
      type: z.boolean().default(false),
      description: "Whether the token may stand in the address.",
    },
  },
});

export const collectorTables = { indexes, hec_tokens: hecTokens };

export type HecTokenRow = Readonly<RowOf<typeof hecTokens.columns>>;
