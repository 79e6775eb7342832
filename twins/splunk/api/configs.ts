/** Configuration files as collections of stanzas: `configs/conf-{file}`. */

import { isOn } from "../conf/values.ts";
import type { Entry } from "../output/entry.ts";
import {
  DEFAULT_STANZA,
  findConfFile,
  ownRoutes,
  productOwnership,
  type Stanza,
  type StanzaFile,
} from "../world/conf-files.ts";
import type { Call, Viewer } from "./call.ts";
import { type ObjectDeclaration, objectRoutes, readSettings } from "./objects.ts";
import { aclOf, addressOf, isVisible, newOwnership, shareOwned, visibleRows } from "./ownership.ts";
import { handlerError, notFound } from "./rest-error.ts";
import { checkWrite } from "./rights.ts";

/** The name of the file in `conf-{file}`. @throws RestError 404 */
function fileName(conf = ""): string {
  if (!conf.startsWith("conf-")) throw notFound();
  return conf.slice("conf-".length);
}

function findFile(viewer: Viewer, name: string): StanzaFile | undefined {
  return findConfFile(viewer.twin.tables, name, {
    visible: (things) => visibleRows(viewer, things),
    newOwnership: (stanza) => newOwnership(viewer, `${name}/${stanza}`),
  });
}

/** Finds a file. @throws RestError 404 for an unknown file, 400 for one with its own route */
export function fileOf(viewer: Viewer, name: string): StanzaFile {
  const place = ownRoutes[name];
  if (place !== undefined) throw handlerError(400, `The stanzas of ${name}.conf are at ${place}.`);
  const file = findFile(viewer, name);
  if (file === undefined) throw notFound();
  return file;
}

/** Checks that the caller may change a stanza, also of an unknown file. @throws RestError 403 */
export function checkStanza(call: Call, file: string, stanza: string): void {
  const ownership = findFile(call, file)?.ownership(stanza) ?? productOwnership;
  checkWrite(call, `${file}/${stanza}`, aclOf(ownership));
}

function stanzaEntry(viewer: Viewer, file: string, { name, ownership, settings }: Stanza): Entry {
  const { disabled, ...others } = settings;
  return {
    name,
    path: addressOf(ownership, `/configs/conf-${file}`, name),
    author: ownership.owner,
    updatedMs: viewer.twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "", disable: "disable" },
    acl: aclOf(ownership),
    content: {
      ...others,
      disabled: isOn(disabled),
      "eai:appName": ownership.app,
      "eai:userName": ownership.owner,
    },
  };
}

const fileIn = (call: Call) => fileName(call.params.conf);
const set = (call: Call, { name }: Entry, settings: Record<string, string>) =>
  fileOf(call, fileIn(call)).write(name, settings);

const confCollection: ObjectDeclaration = {
  id: "configuration",
  title: ":conf",
  path: "/configs/:conf",
  what: "the stanzas of a configuration file",
  one: "a stanza",
  // Every account may have private macros.
  capabilityFor: ({ params }) => (params.conf === "conf-macros" ? "edit_own_objects" : "edit_conf_objects"),
  links: { create: "_new", _reload: "_reload", _acl: "_acl" },
  // Clients address the default stanza as `_new`.
  nameOf: (asked) => (asked === "_new" ? DEFAULT_STANZA : asked),
  entries(viewer, { conf, name }) {
    const file = fileName(conf);
    const asksForDefault = name === "_new" || name === DEFAULT_STANZA;
    const stanzas = fileOf(viewer, file);
    const general = { name: DEFAULT_STANZA, ownership: stanzas.ownership(DEFAULT_STANZA) };
    return stanzas
      .stanzas()
      .filter((stanza) => stanza.name !== DEFAULT_STANZA && isVisible(viewer, stanza.ownership))
      .concat(asksForDefault ? [{ ...general, settings: stanzas.settings(DEFAULT_STANZA) }] : [])
      .map((stanza) => stanzaEntry(viewer, file, stanza));
  },
  create(call, name) {
    if (!fileOf(call, fileIn(call)).create(name, readSettings(call))) {
      throw handlerError(409, `An object with name=${name} already exists`);
    }
    return name;
  },
  update: (call, entry) => set(call, entry, readSettings(call)),
  remove(call, { name }) {
    fileOf(call, fileIn(call)).remove(name);
  },
  actions: {
    disable: {
      summary: "Switch a stanza off.",
      perform: (call, entry) => set(call, entry, { disabled: "1" }),
    },
    enable: { summary: "Switch a stanza on.", perform: (call, entry) => set(call, entry, { disabled: "0" }) },
  },
  share(call, entry, sharing) {
    const { name } = entry;
    if (fileIn(call) === "macros") return shareOwned(call.twin.tables.table("macros"), entry, sharing);
    const table = call.twin.tables.table("conf_stanzas");
    const changed = table.update(`${fileIn(call)}/${name}`, sharing);
    if (changed === undefined) throw handlerError(400, `The stanza ${name} belongs to nobody.`);
  },
};

export const configOperations = objectRoutes(confCollection);
