/**
 * Configuration files and their stanzas. Most stanzas are rows of `conf_stanzas`; macros and event types are rows of the tables that
 * searches use. Saved searches and indexes change through their own routes only.
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { sealSecrets } from "../conf/secret-settings.ts";
import { type Settings, shippedStanzas } from "../conf/shipped-stanzas.ts";
import { isOn } from "../conf/values.ts";
import type { MacroRow } from "./knowledge-tables.ts";
import { type Owned, ownedKey } from "./ownership.ts";
import { readStanza } from "./stanza.ts";
import type { LogQueryTables } from "./tables.ts";

/** Owner, app and sharing of a stanza. */
type Ownership = Omit<Owned, "name">;

/** The namespace that a file is viewed from. */
export interface ConfNamespace {
  /** Filters to the visible objects, sorted by precedence. */
  visible<Thing extends Owned>(things: readonly Thing[]): Thing[];
  /** Ownership of a new stanza. @throws when the caller may not create it */
  newOwnership(name: string): Ownership;
}

export interface Stanza {
  name: string;
  ownership: Ownership;
  /** All settings. */
  settings: Settings;
}

export interface StanzaFile {
  /** The visible stanzas. */
  stanzas(): Stanza[];
  /** Ownership of a stanza, existing or not. */
  ownership(name: string): Ownership;
  /** All settings of an existing stanza. */
  settings(name: string): Settings;
  /** Creates a stanza. @returns false when the name is taken */
  create(name: string, settings: Settings): boolean;
  /** Creates a stanza, or changes some of its settings. @throws WorldRefusal */
  write(name: string, changes: Settings): void;
  remove(name: string): void;
}

/** Ownership of what the product ships. */
export const productOwnership: Ownership = { owner: "nobody", app: "system", sharing: "global" };

/** Shipped files, without `.conf`. */
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

/** Routes of the files that have their own. */
export const ownRoutes = lookupTable<string>({
  indexes: "data/indexes",
  passwords: "storage/passwords",
  savedsearches: "saved/searches",
});

/** The stanza that applies to all stanzas of its file. */
export const DEFAULT_STANZA = "default";

export function confFileNames(tables: LogQueryTables): string[] {
  const rows = tables.table("conf_stanzas").all();
  const given = rows.map(({ name }) => name.slice(0, name.indexOf("/")));
  return [...new Set([...shippedFiles, ...given])].sort();
}

/** Finds a configuration file; `undefined` when there is none of the name. */
export function findConfFile(
  tables: LogQueryTables,
  file: string,
  namespace: ConfNamespace,
): StanzaFile | undefined {
  if (file === "macros") return macros(tables, namespace);
  if (file === "eventtypes") return stanzaFile(eventTypes(tables));
  return confFileNames(tables).includes(file) ? stanzaFile(generic(tables, file)) : undefined;
}

/** Creates an empty file. */
export function createConfFile(tables: LogQueryTables, file: string, app: string): void {
  tables.table("conf_stanzas").insert({ name: `${file}/${DEFAULT_STANZA}`, app });
}

/** A file whose stanzas are unique by name. */
interface FileByName extends Pick<StanzaFile, "settings" | "write" | "remove"> {
  names(): string[];
  ownership?(name: string): Ownership | undefined;
}

function stanzaFile(file: FileByName): StanzaFile {
  const ownership = (name: string) => file.ownership?.(name) ?? productOwnership;
  return {
    ...file,
    ownership,
    stanzas: () =>
      file.names().map((name) => ({ name, ownership: ownership(name), settings: file.settings(name) })),
    create(name, settings) {
      if (file.names().includes(name)) return false;
      file.write(name, settings);
      return true;
    },
  };
}

function generic(tables: LogQueryTables, file: string): FileByName {
  const table = tables.table("conf_stanzas");
  const prefix = `${file}/`;
  return {
    names() {
      const known = [...Object.keys(shippedStanzas), ...table.all().map(({ name }) => name)];
      const own = known.filter((name) => name.startsWith(prefix));
      return [...new Set(own.map((name) => name.slice(prefix.length)))].sort();
    },
    ownership: (name) => table.get(prefix + name),
    settings: (name) => ({
      ...readStanza(tables, prefix + DEFAULT_STANZA),
      ...readStanza(tables, prefix + name),
    }),
    write(name, given) {
      const changes = sealSecrets(given);
      const row = table.get(prefix + name);
      if (row) table.update(row.name, { settings: { ...row.settings, ...changes } });
      else table.insert({ name: prefix + name, settings: changes });
    },
    remove(name) {
      table.remove(prefix + name);
    },
  };
}

/** The file of macros, which several accounts may have under one name. */
function macros(tables: LogQueryTables, namespace: ConfNamespace): StanzaFile {
  const table = tables.table("macros");
  const visible = () => namespace.visible(table.all());
  const find = (name: string) => namespace.visible(table.find({ name }))[0];
  const insert = (name: string, given: Settings, ownership: Ownership) =>
    table.insert({ definition: "", ...macroColumns(given), name, ...ownership });
  return {
    stanzas: () => visible().map((row) => ({ name: row.name, ownership: row, settings: macroSettings(row) })),
    ownership: (name) => find(name) ?? productOwnership,
    settings(name) {
      const row = find(name);
      return row === undefined ? {} : macroSettings(row);
    },
    create(name, given) {
      const ownership = namespace.newOwnership(name);
      if (table.get(ownedKey({ name, ...ownership })) !== undefined) return false;
      insert(name, given, ownership);
      return true;
    },
    write(name, given) {
      const row = find(name);
      if (row === undefined) insert(name, given, namespace.newOwnership(name));
      else table.update(ownedKey(row), macroColumns(given));
    },
    remove(name) {
      const row = find(name);
      if (row !== undefined) table.remove(ownedKey(row));
    },
  };
}

function macroSettings({ args, definition, iseval, validation, errormsg }: MacroRow): Settings {
  return {
    args: args.join(","),
    definition,
    iseval: iseval ? "1" : "0",
    ...(validation === "" ? {} : { validation }),
    ...(errormsg === "" ? {} : { errormsg }),
  };
}

function macroColumns({ args, definition, iseval, validation, errormsg }: Settings) {
  return {
    ...(args === undefined ? {} : { args: args.split(",").flatMap((one) => one.trim() || []) }),
    ...(definition === undefined ? {} : { definition }),
    ...(iseval === undefined ? {} : { iseval: isOn(iseval) }),
    ...(validation === undefined ? {} : { validation }),
    ...(errormsg === undefined ? {} : { errormsg }),
  };
}

function eventTypes(tables: LogQueryTables): FileByName {
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
