/** Stanzas of configuration files: the rows of `conf_stanzas` over what the product ships. */
import { type Settings, shippedStanzas } from "../conf/shipped-stanzas.ts";
import type { LogQueryTables } from "./tables.ts";

const noSettings: Settings = {};

/** All settings of a stanza. @param name its file and its own name: `limits/http_input` */
export function stanza(tables: LogQueryTables, name: string): Settings {
  const shipped = shippedStanzas[name] ?? noSettings;
  const row = tables.table("conf_stanzas").get(name);
  return row === undefined ? shipped : { ...shipped, ...row.settings };
}
