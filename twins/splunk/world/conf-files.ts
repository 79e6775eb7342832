/**
 * Configuration files and their stanzas. Most are rows of `conf_stanzas`; macros and event types are rows of tables of their own, which
 * searches go by. Saved searches and indexes have routes of their own, and are changed there alone.
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { sealSecrets } from "../conf/secret-settings.ts";
import { type Settings, shippedStanzas } from "../conf/shipped-stanzas.ts";
import { isOn } from "../conf/values.ts";
import type { MacroRow } from "./knowledge-tables.ts";
import { type Owned, ownedKey } from "./ownership.ts";
import { stanza } from "./stanza.ts";
import type { LogQueryTables } from "./tables.ts";

/** Whose a stanza is, and who sees it. */
type Ownership = Omit<Owned, "name">;

/** Where a file is looked at from. */
export interface ConfPlace {
  /** What is seen there, the nearest first. */
  shown<Thing extends Owned>(things: readonly Thing[]): Thing[];
  /** Whose a new stanza is. @throws for who may not make one */
  own(name: string): Ownership;
}

export interface Stanza {
  name: string;
  ownership: Ownership;
  /** All settings. */
  settings: Settings;
}

export interface StanzaFile {
  /** Those that are seen. */
  stanzas(): Stanza[];
  /** Whose a stanza is, or would be. */
  ownership(name: string): Ownership;
  /** All settings of a stanza that there is. */
  settings(name: string): Settings;
  /** Makes a stanza. @returns whether there was none of the name */
  create(name: string, settings: Settings): boolean;
  /** Makes a stanza, or sets some of its settings. @throws WorldRefusal */
  write(name: string, changes: Settings): void;
  remove(name: string): void;
}

/** What nobody has made is everybody's. */
export const productOwnership: Ownership = { owner: "nobody", app: "system", sharing: "global" };

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
export function confFile(tables: LogQueryTables, file: string, place: ConfPlace): StanzaFile | undefined {
  if (file === "macros") return macros(tables, place);
  if (file === "eventtypes") return nominal(eventTypes(tables));
  return confFileNames(tables).includes(file) ? nominal(generic(tables, file)) : undefined;
}

/** Makes an empty file. */
export function createConfFile(tables: LogQueryTables, file: string, app: string): void {
  tables.table("conf_stanzas").insert({ name: `${file}/${DEFAULT_STANZA}`, app });
}

/** Stanzas that there is one of by a name, whoever made it. */
interface NominalFile extends Pick<StanzaFile, "settings" | "write" | "remove"> {
  names(): string[];
  ownership?(name: string): Ownership | undefined;
}

function nominal(file: NominalFile): StanzaFile {
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

function generic(tables: LogQueryTables, file: string): NominalFile {
  const table = tables.table("conf_stanzas");
  const prefix = `${file}/`;
  return {
    names() {
      const known = [...Object.keys(shippedStanzas), ...table.all().map(({ name }) => name)];
      const own = known.filter((name) => name.startsWith(prefix));
      return [...new Set(own.map((name) => name.slice(prefix.length)))].sort();
    },
    ownership: (name) => table.get(prefix + name),
    settings: (name) => ({ ...stanza(tables, prefix + DEFAULT_STANZA), ...stanza(tables, prefix + name) }),
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

/** Macros are somebody's: of one name everybody may have one. */
function macros(tables: LogQueryTables, place: ConfPlace): StanzaFile {
  const table = tables.table("macros");
  const shown = () => place.shown(table.all());
  const find = (name: string) => place.shown(table.find({ name }))[0];
  const insert = (name: string, given: Settings, ownership: Ownership) =>
    table.insert({ definition: "", ...macroColumns(given), name, ...ownership });
  return {
    stanzas: () => shown().map((row) => ({ name: row.name, ownership: row, settings: macroSettings(row) })),
    ownership: (name) => find(name) ?? productOwnership,
    settings(name) {
      const row = find(name);
      return row === undefined ? {} : macroSettings(row);
    },
    create(name, given) {
      const ownership = place.own(name);
      if (table.get(ownedKey({ name, ...ownership })) !== undefined) return false;
      insert(name, given, ownership);
      return true;
    },
    write(name, given) {
      const row = find(name);
      if (row === undefined) insert(name, given, place.own(name));
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

function eventTypes(tables: LogQueryTables): NominalFile {
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
