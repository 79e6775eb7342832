/** The tables of the event collector: where events may go, and who may send them. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { findInvalid } from "../conf/formats.ts";
import { indexFormats } from "../conf/index-formats.ts";

/** What an index may be called: `_` before the name is the platform's own. */
export const indexName = z
  .string()
  .regex(/^[a-z0-9_][a-z0-9_-]{0,79}$/, "must be the name of an index: lower-case letters, digits, _ and -");

/** Each is known to `indexes.conf`, and of the format that it has there. */
const indexSettings = z.record(z.string(), z.string()).superRefine((settings, context) => {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(indexFormats, name));
  if (unknown !== undefined) context.addIssue(`${unknown} is no setting of an index`);
  const wrong = findInvalid(indexFormats, settings);
  if (wrong !== undefined) context.addIssue(`${wrong.name} must be ${wrong.format.description}`);
});

const indexes = defineTable({
  description: "The indexes that there are, whether or not they hold events.",
  key: "name",
  columns: {
    name: { type: indexName, description: "The name; with _ in front it is one of the platform's own." },
    disabled: { type: z.boolean().default(false), description: "Whether nothing can be written to it." },
    datatype: {
      type: z.enum(["event", "metric"]).default("event"),
      description: "What it holds; both kinds are searched findReusable.",
    },
    settings: {
      type: indexSettings.default({}),
      description: "Its settings, by their names in indexes.conf; none of them changes what is kept.",
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
      description: "SHA-256 of the token, in hexadecimal; of no two rows the same.",
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
      description: "The indexes that it may write to; any when there are none.",
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
