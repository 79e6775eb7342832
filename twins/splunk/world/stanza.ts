/** Stanzas of configuration files: the rows of `conf_stanzas` over what the product ships. */
import { type Settings, shippedStanzas } from "../conf/shipped-stanzas.ts";
import type { LogQueryTables } from "./tables.ts";

const noSettings: Settings = {};

/** Reads all settings of a stanza. @param name file and stanza: `limits/http_input` */
export function readStanza(tables: LogQueryTables, name: string): Settings {
  const shipped = shippedStanzas[name] ?? noSettings;
  const row = tables.table("conf_stanzas").get(name);
  return row === undefined ? shipped : { ...shipped, ...row.settings };
}
