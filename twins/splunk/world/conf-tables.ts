/** The tables of what is set up in an instance: apps, their stanzas, pages and passwords, and messages to the administrator. */

import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { appColumn, ownedWithin, ownerColumn } from "./ownership.ts";

/** Beyond this, what is given is no setting of a configuration file. */
const MAX_CHARACTERS = 100_000;

/** Whose something is, and who sees it. */
const ownership = {
  owner: ownerColumn,
  app: appColumn,
  sharing: { type: z.enum(["user", "app", "global"]).default("app"), description: "Who sees it." },
};

const confStanzas = defineTable({
  description:
    "Stanzas of configuration files. What a row leaves out is as the product ships it; the event collector goes by inputs/http and limits/http_input.",
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
    ...ownership,
  },
});

const named = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,99}$/,
    "must be a name: letters, digits, _, . and -, beginning with a letter or a digit",
  );

const apps = defineTable({
  description: "The apps that there are.",
  key: "name",
  columns: {
    name: { type: named, description: "The name: that of its folder." },
    label: { type: z.string().default(""), description: "What it is called where people see it." },
    description: { type: z.string().default(""), description: "What it is for." },
    author: { type: z.string().default(""), description: "Who made it." },
    version: { type: z.string().default(""), description: "Its version." },
    visible: { type: z.boolean().default(true), description: "Whether people see it." },
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
    ...ownership,
  },
});

const storagePasswords = defineTable({
  description: "Passwords that apps keep for use elsewhere.",
  key: "name",
  within: ownedWithin,
  columns: {
    name: {
      type: z.string().regex(/^[^:]*:[\s\S]+:$/, "must be realm:user:"),
      description: "Realm and user, each with : behind it, and \\ before a : of their own.",
    },
    realm: { type: z.string().default(""), description: "Where the password is good." },
    username: { type: z.string().min(1), description: "Whose it is there." },
    password_sha256: {
      type: z.string().regex(/^[0-9a-f]{64}$/),
      description: "SHA-256 of the password; in clear it is only kept by the process that was given it.",
    },
    ...ownership,
  },
});

const messages = defineTable({
  description: "Messages to the administrator.",
  key: "name",
  limit: { rows: 1000, mayLetGo: () => true },
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

export type ConfStanzaRow = Readonly<RowOf<typeof confStanzas.columns>>;
export type AppRow = Readonly<RowOf<typeof apps.columns>>;
export type ViewRow = Readonly<RowOf<typeof views.columns>>;
export type StoragePasswordRow = Readonly<RowOf<typeof storagePasswords.columns>>;
export type MessageRow = Readonly<RowOf<typeof messages.columns>>;
