/** Configuration as a tree of files, stanzas and keys: `properties`. */
import { ownValue } from "@offhook/platform/base/lookup-table";
import type { Entry } from "../output/entry.ts";
import { confFileNames, createConfFile, DEFAULT_STANZA, ownRoutes } from "../world/conf-files.ts";
import { systemAcl } from "./acl.ts";
import { appOf, type Call } from "./call.ts";
import { feedOf } from "./collection.ts";
import { checkStanza, fileOf } from "./configs.ts";
import { feedResponse, pageOf } from "./entries.ts";
import { messagesResponse } from "./messages.ts";
import { segmentOf } from "./name-segment.ts";
import { readSettings } from "./objects.ts";
import { handlerError, missingArgument, notFound } from "./rest-error.ts";
import { type RouteDeclaration, route } from "./route.ts";

const PATH = "/properties";
const fileName = /^[\w-]+$/;

/** Responds with names and their texts as a feed. */
function listResponse(
  call: Call,
  title: string,
  path: string,
  items: readonly (readonly [string, string])[],
) {
  const entries = items.map(
    ([name, text]): Entry => ({
      name,
      path: `/services${path}/${segmentOf(name)}`,
      author: "system",
      updatedMs: call.twin.startedMs,
      links: {},
      acl: systemAcl,
      content: {},
      text,
    }),
  );
  return feedResponse(call, { ...feedOf(call, title, path, {}), ...pageOf(call, entries) });
}

const paramsOf = (call: Call) => {
  const { file = "", stanza = "", key = "" } = call.params;
  return { file, stanza, key };
};

/** @throws RestError 404 */
function stanzaOf(call: Call) {
  const { file, stanza } = paramsOf(call);
  const stanzas = fileOf(call, file);
  if (stanza !== DEFAULT_STANZA && !stanzas.stanzas().some(({ name }) => name === stanza)) throw notFound();
  return { stanzas, stanza };
}

/** Finds a stanza to change. @throws RestError 404, 403 */
function findWritableStanza(call: Call) {
  const found = stanzaOf(call);
  checkStanza(call, paramsOf(call).file, found.stanza);
  return found;
}

function modifiedResponse(call: Call, count: number) {
  const text = `Successfully modified ${count} key${count === 1 ? "" : "s"}`;
  return messagesResponse(200, [{ type: "INFO", text }], call.mode);
}

const reading: Pick<RouteDeclaration, "id" | "method" | "capability"> = {
  id: "property.list",
  method: "GET",
  capability: "rest_properties_get",
};
const writing: Pick<RouteDeclaration, "id" | "method" | "capability"> = {
  id: "property.set",
  method: "POST",
  capability: "rest_properties_set",
};

export const propertyOperations = [
  ...route({
    ...reading,
    path: PATH,
    summary: "List the configuration files.",
    handle: (call) =>
      listResponse(
        call,
        "properties",
        PATH,
        confFileNames(call.twin.tables).map((name) => [name, ""]),
      ),
  }),
  ...route({
    ...writing,
    path: PATH,
    summary: "Make a configuration file.",
    handle(call) {
      const file = call.arguments.text("__conf");
      if (file === undefined) throw missingArgument("__conf");
      if (!fileName.test(file)) throw handlerError(400, `Invalid value "${file}" for argument "__conf".`);
      if (ownRoutes[file] === undefined && !confFileNames(call.twin.tables).includes(file)) {
        checkStanza(call, file, DEFAULT_STANZA);
        createConfFile(call.twin.tables, file, appOf(call));
      }
      return { status: 201 };
    },
  }),
  ...route({
    ...reading,
    path: `${PATH}/:file`,
    summary: "List the stanzas of a configuration file.",
    handle(call) {
      const { file } = paramsOf(call);
      const names = new Set([
        DEFAULT_STANZA,
        ...fileOf(call, file)
          .stanzas()
          .map(({ name }) => name),
      ]);
      return listResponse(
        call,
        file,
        `${PATH}/${file}`,
        [...names].map((name) => [name, ""]),
      );
    },
  }),
  ...route({
    ...writing,
    path: `${PATH}/:file`,
    summary: "Make a stanza of a configuration file.",
    handle(call) {
      const stanza = call.arguments.text("__stanza");
      if (stanza === undefined) throw missingArgument("__stanza");
      const { file } = paramsOf(call);
      const stanzas = fileOf(call, file);
      checkStanza(call, file, stanza);
      stanzas.create(stanza, {});
      return { status: 201 };
    },
  }),
  ...route({
    ...reading,
    path: `${PATH}/:file/:stanza`,
    summary: "List the settings of a stanza.",
    handle(call) {
      const { stanzas, stanza } = stanzaOf(call);
      const path = `${PATH}/${paramsOf(call).file}/${segmentOf(stanza)}`;
      return listResponse(call, stanza, path, Object.entries(stanzas.settings(stanza)));
    },
  }),
  ...route({
    ...writing,
    path: `${PATH}/:file/:stanza`,
    summary: "Change settings of a stanza.",
    handle(call) {
      const { stanzas, stanza } = findWritableStanza(call);
      const settings = readSettings(call);
      stanzas.write(stanza, settings);
      return modifiedResponse(call, Object.keys(settings).length);
    },
  }),
  ...route({
    ...reading,
    id: "property.get",
    path: `${PATH}/:file/:stanza/:key`,
    // The name of the setting is in the path, so the journal cannot tell from the body whether it is a secret.
    secretBody: true,
    summary: "Say what a setting is.",
    handle(call) {
      const { stanzas, stanza } = stanzaOf(call);
      const value = ownValue(stanzas.settings(stanza), paramsOf(call).key);
      if (value === undefined) throw notFound();
      return { status: 200, headers: { "content-type": "text/plain; charset=UTF-8" }, body: value };
    },
  }),
  ...route({
    ...writing,
    path: `${PATH}/:file/:stanza/:key`,
    secretBody: true,
    summary: "Change a setting.",
    handle(call) {
      const { stanzas, stanza } = findWritableStanza(call);
      const value = call.arguments.get("value");
      if (value === undefined) throw missingArgument("value");
      stanzas.write(stanza, { [paramsOf(call).key]: value });
      return modifiedResponse(call, 1);
    },
  }),
];
