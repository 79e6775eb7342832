/** Configuration files as collections of stanzas: `configs/conf-{file}`. */
import { confFile, DEFAULT_STANZA, elsewhere, type StanzaFile } from "../conf/files.ts";
import { isOn } from "../conf/stanza.ts";
import type { Entry } from "../output/entry.ts";
import { aclOf, addressOf, type Belonging, isVisible } from "./belonging.ts";
import type { Call, Viewer } from "./call.ts";
import { givenSettings, type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { notFound, refused } from "./rest-error.ts";
import { checkWrite } from "./rights.ts";

/** The name of the file in `conf-{file}`. @throws RestError 404 */
function fileName(conf = ""): string {
  if (!conf.startsWith("conf-")) throw notFound();
  return conf.slice("conf-".length);
}

/** @throws RestError 404 when there is no such file, 400 when it is not changed here */
export function fileOf({ twin }: Viewer, name: string): StanzaFile {
  const place = elsewhere[name];
  if (place !== undefined) throw refused(400, `The stanzas of ${name}.conf are at ${place}.`);
  const file = confFile(twin.tables, name);
  if (file === undefined) throw notFound();
  return file;
}

const ofProduct: Belonging = { owner: "nobody", app: "system", sharing: "global" };

/** The rows that are stanzas belong to somebody; what the product ships is everybody's. */
function belongingOf({ twin }: Viewer, file: string, stanza: string): Belonging {
  return twin.tables.table("conf_stanzas").get(`${file}/${stanza}`) ?? ofProduct;
}

/** @throws RestError 403 for who may not change the stanza */
export function checkStanza(call: Call, file: string, stanza: string): void {
  checkWrite(call, `${file}/${stanza}`, aclOf(belongingOf(call, file, stanza)));
}

function stanzaEntry(viewer: Viewer, file: string, stanza: string, belonging: Belonging): Entry {
  const { disabled, ...settings } = fileOf(viewer, file).settings(stanza);
  return {
    name: stanza,
    path: addressOf(belonging, `/configs/conf-${file}`, stanza),
    author: belonging.owner,
    updatedMs: viewer.twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "", disable: "disable" },
    acl: aclOf(belonging),
    content: {
      ...settings,
      disabled: isOn(disabled),
      "eai:appName": belonging.app,
      "eai:userName": belonging.owner,
    },
  };
}

const fileIn = (call: Call) => fileName(call.params.conf);
const set = (call: Call, { name }: Entry, settings: Record<string, string>) =>
  fileOf(call, fileIn(call)).write(name, settings);

export const confCollection: ObjectDeclaration = {
  id: "configuration",
  title: ":conf",
  path: "/configs/:conf",
  what: "the stanzas of a configuration file",
  one: "a stanza",
  changeCapability: "edit_conf_objects",
  links: { create: "_new", _reload: "_reload", _acl: "_acl" },
  // So clients say that they mean what holds for all stanzas.
  nameOf: (asked) => (asked === "_new" ? DEFAULT_STANZA : asked),
  entries(viewer, { conf, name }) {
    const file = fileName(conf);
    const asksForDefault = name === "_new" || name === DEFAULT_STANZA;
    return fileOf(viewer, file)
      .names()
      .concat(asksForDefault ? [DEFAULT_STANZA] : [])
      .filter((stanza) => asksForDefault || stanza !== DEFAULT_STANZA)
      .map((stanza) => ({ stanza, belonging: belongingOf(viewer, file, stanza) }))
      .filter(({ belonging }) => isVisible(viewer, belonging))
      .map(({ stanza, belonging }) => stanzaEntry(viewer, file, stanza, belonging));
  },
  create(call, name) {
    const file = fileIn(call);
    if (fileOf(call, file).names().includes(name)) {
      throw refused(409, `An object with name=${name} already exists`);
    }
    fileOf(call, file).write(name, givenSettings(call));
    return name;
  },
  update: (call, entry) => set(call, entry, givenSettings(call)),
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
  share(call, { name }, sharing) {
    const table = call.twin.tables.table("conf_stanzas");
    const changed = table.update(`${fileIn(call)}/${name}`, sharing);
    if (changed === undefined) throw refused(400, `The stanza ${name} belongs to nobody.`);
  },
};

export const configOperations = objectRoutes(confCollection);
