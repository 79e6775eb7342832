/** The tables of an instance's configuration: apps, stanzas, pages, passwords and messages to the administrator. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { appColumn, ownedWithin, ownerColumn } from "./ownership.ts";

/** Longest value of a setting. */
const MAX_CHARACTERS = 100_000;

/** Columns of an owned object. */
const ownershipColumns = {
  owner: ownerColumn,
  app: appColumn,
  sharing: { type: z.enum(["user", "app", "global"]).default("app"), description: "Who sees it." },
};

const confStanzas = defineTable({
  description:
    "Stanzas of configuration files, over the shipped defaults; the event collector reads inputs/http and limits/http_input.",
  key: "name",
  columns: {
    name: {
      type: z.string().regex(/^[\w-]+\/[^/\s].*$/, "must be a file and a stanza: limits/http_input"),
      description: "The file, without .conf, and the stanza: limits/http_input.",
    },
    settings: {
      type: z.record(z.string().min(1), z.string().max(MAX_CHARACTERS)).default({}),
      description: "The settings, by their names in the file.",
    },
    ...ownershipColumns,
  },
});

const named = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,99}$/,
    "must be a name: letters, digits, _, . and -, beginning with a letter or a digit",
  );

const apps = defineTable({
  description: "The apps.",
  key: "name",
  columns: {
    name: { type: named, description: "The name of its folder." },
    label: { type: z.string().default(""), description: "The displayed name." },
    description: { type: z.string().default(""), description: "What it is for." },
    author: { type: z.string().default(""), description: "Who made it." },
    version: { type: z.string().default(""), description: "Its version." },
    visible: { type: z.boolean().default(true), description: "Whether it is displayed." },
    configured: { type: z.boolean().default(false), description: "Whether it has been set up." },
    disabled: { type: z.boolean().default(false), description: "Whether it is switched off." },
  },
});

const views = defineTable({
  description: "Dashboards and other pages.",
  key: "name",
  within: ownedWithin,
  columns: {
    name: { type: named, description: "The name." },
    data: { type: z.string().min(1).max(1_000_000), description: "The page, as XML." },
    ...ownershipColumns,
  },
});

const storagePasswords = defineTable({
  description: "Passwords that apps store for other services.",
  key: "name",
  within: ownedWithin,
  columns: {
    name: {
      type: z.string().regex(/^[^:]*:[\s\S]+:$/, "must be realm:user:"),
      description: "Realm and user, each followed by :; a : within them is escaped by \\.",
    },
    realm: { type: z.string().default(""), description: "Where the password is valid." },
    username: { type: z.string().min(1), description: "The user name there." },
    password_sha256: {
      type: z.string().regex(/^[0-9a-f]{64}$/),
      description: "SHA-256 of the password; only the process that received it knows the clear text.",
    },
    ...ownershipColumns,
  },
});

const messages = defineTable({
  description: "Messages to the administrator.",
  key: "name",
  limit: { rows: 1000, mayEvict: () => true },
  columns: {
    name: {
      type: z.string().min(1),
      description: "The name; a second message of this name replaces the first.",
    },
    severity: { type: z.enum(["info", "warn", "error"]).default("info"), description: "How bad it is." },
    value: { type: z.string(), description: "What it says." },
    created_at: { type: z.iso.datetime(), description: "When it was made." },
  },
});

export const confTables = {
  apps,
  views,
  conf_stanzas: confStanzas,
  storage_passwords: storagePasswords,
  messages,
};

export type AppRow = Readonly<RowOf<typeof apps.columns>>;
export type ViewRow = Readonly<RowOf<typeof views.columns>>;
export type StoragePasswordRow = Readonly<RowOf<typeof storagePasswords.columns>>;
export type MessageRow = Readonly<RowOf<typeof messages.columns>>;
