/** The tables of the configuration: stanzas of files, as an administrator has set them. */
import { z } from "zod";
import { defineTable, type RowOf } from "../../sandbox/table.ts";

/** Beyond this, what is given is no setting of a configuration file. */
const MOST_CHARACTERS = 100_000;

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
      type: z.record(z.string().min(1), z.string().max(MOST_CHARACTERS)).default({}),
      description: "The settings, by their names in the file.",
    },
    owner: { type: z.string().default("nobody"), description: "Whose it is." },
    app: { type: z.string().default("search"), description: "The app it belongs to." },
    sharing: { type: z.enum(["user", "app", "global"]).default("app"), description: "Who sees it." },
  },
});

export const confTables = { conf_stanzas: confStanzas };

export type ConfStanzaRow = Readonly<RowOf<typeof confStanzas.columns>>;
