/** Tokens and settings of the event collector in the management API: `data/inputs/http`. */
import { randomUUID } from "node:crypto";
import { isOn } from "../conf/values.ts";
import type { Entry } from "../output/entry.ts";
import type { HecTokenRow } from "../world/collector-tables.ts";
import { readStanza } from "../world/stanza.ts";
import { systemAcl } from "./acl.ts";
import type { Call, Viewer } from "./call.ts";
import { singleResponse } from "./collection.ts";
import { segmentOf } from "./name-segment.ts";
import { type ObjectDeclaration, objectRoutes, readSettings } from "./objects.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { handlerError } from "./rest-error.ts";
import { route } from "./route.ts";

const TITLE = "http";
const PATH = "/data/inputs/http";
const GLOBAL = "inputs/http";
const links = { create: "_new", _reload: "_reload", _acl: "_acl" };
/** Shown in place of a token whose clear text this process does not know. */
const UNKNOWN = "********";

const changeable = [
  "allowQueryStringAuth",
  "description",
  "disabled",
  "host",
  "index",
  "indexes",
  "outputgroup",
  "source",
  "sourcetype",
  "token",
  "useACK",
  "useDeploymentServer",
];

const tokens = ({ twin }: Viewer) => twin.tables.table("hec_tokens");

function tokenEntry({ twin }: Viewer, row: HecTokenRow): Entry {
  const change = row.disabled ? "enable" : "disable";
  return {
    name: `http://${row.name}`,
    path: `/servicesNS/nobody/splunk_httpinput${PATH}/${segmentOf(`http://${row.name}`)}`,
    author: "nobody",
    updatedMs: twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "", [change]: change, rotate: "rotate" },
    acl: { ...systemAcl, app: "splunk_httpinput", sharing: "app", removable: true },
    fields: { optional: changeable, required: [], wildcard: [] },
    content: {
      _rcvbuf: 1_572_864,
      allowQueryStringAuth: row.allow_query_string_auth,
      description: row.description,
      disabled: row.disabled,
      "eai:appName": "splunk_httpinput",
      "eai:userName": "nobody",
      host: row.host,
      index: row.index,
      indexes: row.indexes,
      outputgroup: "",
      source: row.source,
      sourcetype: row.sourcetype,
      token: twin.secrets.reveal(row.token_sha256) ?? UNKNOWN,
      useACK: row.use_ack,
    },
  };
}

/** The columns that a request changes. @throws RestError 400 for the token of another input */
function changesOf(call: Call, name: string) {
  const given = call.arguments;
  const token = given.text("token");
  return omitUndefined({
    description: given.get("description"),
    host: given.text("host"),
    index: given.text("index"),
    indexes: given.list("indexes"),
    source: given.get("source"),
    sourcetype: given.get("sourcetype"),
    disabled: given.optionalFlag("disabled"),
    use_ack: given.optionalFlag("useACK"),
    allow_query_string_auth: given.optionalFlag("allowQueryStringAuth"),
    token_sha256: token === undefined ? undefined : digestOf(call, name, token),
  });
}

function digestOf(call: Call, name: string, token: string): string {
  const digest = call.twin.secrets.remember(token);
  const [other] = tokens(call).find({ token_sha256: digest });
  if (other && other.name !== name) throw handlerError(400, "The token is another input's.");
  return digest;
}

/** The name of an entry's row. */
const rowName = ({ name }: Entry) => name.slice("http://".length);

const setState = (state: "enabled" | "disabled") => (call: Call, entry: Entry) => {
  tokens(call).update(rowName(entry), { disabled: state === "disabled" });
};

const tokenCollection: ObjectDeclaration = {
  id: "collector_token",
  title: TITLE,
  path: PATH,
  what: "the tokens of the event collector",
  one: "a token",
  anyArguments: true,
  capability: "list_token_http",
  changeCapability: "edit_token_http",
  links,
  nameOf: (asked) => `http://${asked.replace(/^http:\/\//i, "")}`,
  settings: (name) => changeable.includes(name),
  entries: (viewer) =>
    tokens(viewer)
      .all()
      .map((row) => tokenEntry(viewer, row)),
  create(call, given) {
    const name = given.replace(/^http:\/\//, "");
    if (tokens(call).get(name)) throw handlerError(409, `Input name=http://${name} already exists`);
    const token_sha256 = digestOf(call, name, call.arguments.text("token") ?? randomUUID());
    tokens(call).insert({ ...changesOf(call, name), name, token_sha256 });
    return `http://${name}`;
  },
  update(call, entry) {
    tokens(call).update(rowName(entry), changesOf(call, rowName(entry)));
  },
  remove(call, entry) {
    tokens(call).remove(rowName(entry));
  },
  actions: {
    disable: { summary: "Switch a token off.", perform: setState("disabled") },
    enable: { summary: "Switch a token on.", perform: setState("enabled") },
    rotate: {
      summary: "Give an input another token.",
      perform(call, entry) {
        tokens(call).update(rowName(entry), { token_sha256: call.twin.secrets.remember(randomUUID()) });
      },
    },
  },
};

// ---- Global settings

function globalResponse(call: Call) {
  const settings = readStanza(call.twin.tables, GLOBAL);
  const change = isOn(settings.disabled) ? "enable" : "disable";
  const entry: Entry = {
    name: "http",
    path: `/servicesNS/nobody/splunk_httpinput${PATH}/http`,
    author: "nobody",
    updatedMs: call.twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", [change]: change },
    acl: { ...systemAcl, app: "splunk_httpinput", sharing: "app" },
    content: { ...settings, disabled: isOn(settings.disabled) },
  };
  return singleResponse(call, entry, TITLE, PATH, links);
}

function setGlobal({ twin }: Call, given: Record<string, string>): void {
  const table = twin.tables.table("conf_stanzas");
  const row = table.get(GLOBAL);
  const settings = { ...row?.settings, ...given };
  if (row) table.update(GLOBAL, { settings });
  else table.insert({ name: GLOBAL, app: "splunk_httpinput", settings });
}

export const inputOperations = [
  ...objectRoutes(tokenCollection),
  ...route({
    id: "collector_settings.get",
    method: "GET",
    path: `${PATH}/http`,
    capability: "list_token_http",
    summary: "Show the settings of the event collector.",
    handle: globalResponse,
  }),
  ...route({
    id: "collector_settings.update",
    method: "POST",
    path: `${PATH}/http`,
    capability: "edit_token_http",
    summary: "Change the settings of the event collector.",
    handle(call) {
      setGlobal(call, readSettings(call));
      return globalResponse(call);
    },
  }),
  ...(["disable", "enable"] as const).flatMap((action) =>
    route({
      id: `collector_settings.${action}`,
      method: "POST",
      path: `${PATH}/http/${action}`,
      capability: "edit_token_http",
      summary: `Switch the event collector ${action === "enable" ? "on" : "off"}.`,
      handle(call) {
        setGlobal(call, { disabled: action === "disable" ? "1" : "0" });
        return globalResponse(call);
      },
    }),
  ),
];
