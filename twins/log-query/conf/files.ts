/**
 * Configuration files and their stanzas. Most are rows of `conf_stanzas`; macros and event types are rows of tables of their own, which
 * searches go by. Saved searches and indexes have routes of their own, and are changed there alone.
 */

import { lookupTable } from "../../sandbox/lookup-table.ts";
import type { LogQueryTables } from "../world/tables.ts";
import { type Settings, shippedStanzas } from "./defaults.ts";
import { keptSettings } from "./secret-settings.ts";
import { isOn, stanza } from "./stanza.ts";

export interface StanzaFile {
  /** Names of its stanzas. */
  names(): string[];
  /** All settings of a stanza that there is. */
  settings(name: string): Settings;
  /** Makes a stanza, or sets some of its settings. @throws WorldRefusal */
  write(name: string, changes: Settings): void;
  remove(name: string): void;
}

/** Files that the product ships, by their names without `.conf`. */
const shippedFiles = [
  "alert_actions",
  "app",
  "authorize",
  "collections",
  "commands",
  "eventtypes",
  "fields",
  "inputs",
  "limits",
  "macros",
  "outputs",
  "props",
  "server",
  "tags",
  "transforms",
  "ui-prefs",
  "user-prefs",
  "web",
  "workflow_actions",
];

/** Files whose stanzas are changed elsewhere, and where that is. */
export const elsewhere = lookupTable<string>({
  indexes: "data/indexes",
  passwords: "storage/passwords",
  savedsearches: "saved/searches",
});

/** The stanza that holds for all others of its file. */
export const DEFAULT_STANZA = "default";

export function confFileNames(tables: LogQueryTables): string[] {
  const rows = tables.table("conf_stanzas").all();
  const given = rows.map(({ name }) => name.slice(0, name.indexOf("/")));
  return [...new Set([...shippedFiles, ...given])].sort();
}

/** @returns `undefined` when there is no such file */
export function confFile(tables: LogQueryTables, file: string): StanzaFile | undefined {
  if (file === "macros") return macros(tables);
  if (file === "eventtypes") return eventTypes(tables);
  return confFileNames(tables).includes(file) ? generic(tables, file) : undefined;
}

/** Makes an empty file. */
export function createConfFile(tables: LogQueryTables, file: string, app: string): void {
  tables.table("conf_stanzas").insert({ name: `${file}/${DEFAULT_STANZA}`, app });
}

function generic(tables: LogQueryTables, file: string): StanzaFile {
  const table = tables.table("conf_stanzas");
  const prefix = `${file}/`;
  return {
    names() {
      const known = [...Object.keys(shippedStanzas), ...table.all().map(({ name }) => name)];
      const own = known.filter((name) => name.startsWith(prefix));
      return [...new Set(own.map((name) => name.slice(prefix.length)))].sort();
    },
    settings: (name) => ({ ...stanza(tables, prefix + DEFAULT_STANZA), ...stanza(tables, prefix + name) }),
    write(name, given) {
      const changes = keptSettings(given);
      const row = table.get(prefix + name);
      if (row) table.update(row.name, { settings: { ...row.settings, ...changes } });
      else table.insert({ name: prefix + name, settings: changes });
    },
    remove(name) {
      table.remove(prefix + name);
    },
  };
}

function macros(tables: LogQueryTables): StanzaFile {
  const table = tables.table("macros");
  return {
    names: () => table.all().map(({ name }) => name),
    settings(name) {
      const row = table.get(name);
      if (!row) return {};
      const { args, definition, iseval, validation, errormsg } = row;
      return {
        args: args.join(","),
        definition,
        iseval: iseval ? "1" : "0",
        ...(validation === "" ? {} : { validation }),
        ...(errormsg === "" ? {} : { errormsg }),
      };
    },
    write(name, { args, definition, iseval, validation, errormsg }) {
      const changes = {
        ...(args === undefined ? {} : { args: args.split(",").flatMap((one) => one.trim() || []) }),
        ...(definition === undefined ? {} : { definition }),
        ...(iseval === undefined ? {} : { iseval: isOn(iseval) }),
        ...(validation === undefined ? {} : { validation }),
        ...(errormsg === undefined ? {} : { errormsg }),
      };
      if (table.get(name)) table.update(name, changes);
      else table.insert({ definition: "", ...changes, name });
    },
    remove(name) {
      table.remove(name);
    },
  };
}

function eventTypes(tables: LogQueryTables): StanzaFile {
  const table = tables.table("event_types");
  return {
    names: () => table.all().map(({ name }) => name),
    settings(name) {
      const row = table.get(name);
      return row ? { disabled: row.disabled ? "1" : "0", search: row.search } : {};
    },
    write(name, { search, disabled }) {
      const changes = {
        ...(search === undefined ? {} : { search }),
        ...(disabled === undefined ? {} : { disabled: isOn(disabled) }),
      };
      if (table.get(name)) table.update(name, changes);
      else table.insert({ search: "", ...changes, name });
    },
    remove(name) {
      table.remove(name);
    },
  };
}
