/** Information about the instance, and its restart. */
import { arch, cpus, release, totalmem, type } from "node:os";
import type { Content, Entry } from "../output/entry.ts";
import { BUILD, SERVER_GUID, SERVER_NAME, VERSION } from "../product.ts";
import { systemAcl } from "./acl.ts";
import type { Call, Viewer } from "./call.ts";
import { type Collection, feedOf, singleResponse } from "./collection.ts";
import { checkArguments, feedResponse, pageArguments } from "./entries.ts";
import { route } from "./route.ts";

function infoContent({ twin }: Viewer): Record<string, Content> {
  return {
    activeLicenseGroup: "Enterprise",
    activeLicenseSubgroup: "Production",
    build: BUILD,
    cpu_arch: arch() === "x64" ? "x86_64" : arch(),
    fips_mode: false,
    guid: SERVER_GUID,
    health_info: "green",
    health_version: 1,
    host: SERVER_NAME,
    host_fqdn: SERVER_NAME,
    host_resolved: SERVER_NAME,
    isForwarding: false,
    isFree: false,
    isTrial: false,
    kvStoreStatus: "ready",
    licenseKeys: [],
    licenseLabels: [],
    licenseSignature: "",
    licenseState: "OK",
    license_labels: [],
    manager_guid: SERVER_GUID,
    manager_uri: "self",
    max_users: 4294967295,
    mode: "normal",
    numberOfCores: cpus().length,
    numberOfVirtualCores: cpus().length,
    os_build: release(),
    os_name: type(),
    os_name_extended: type(),
    os_version: release(),
    physicalMemoryMB: Math.round(totalmem() / 1_048_576),
    product_type: "enterprise",
    rtsearch_enabled: false,
    serverName: SERVER_NAME,
    server_roles: ["indexer", "license_manager", "search_head", "kv_store"],
    startup_time: Math.floor(twin.startedMs / 1000),
    staticAssetId: BUILD,
    version: VERSION,
  };
}

function infoEntry(viewer: Viewer): Entry {
  return {
    name: "server-info",
    path: "/services/server/info/server-info",
    author: "system",
    updatedMs: viewer.twin.startedMs,
    links: { list: "" },
    acl: { app: "", owner: "system", sharing: "system", read: ["*"], write: [] },
    content: infoContent(viewer),
  };
}

/** The server info as a collection of one. */
export const infoCollection: Collection = {
  title: "server-info",
  path: "/server/info",
  entries: (viewer) => [infoEntry(viewer)],
};

/** Ends sessions, running searches and messages, as a restart does. Tokens, results and objects remain. */
function restart({ twin }: Call): void {
  const { tables, jobs, clock } = twin;
  for (const { sid, state } of tables.table("jobs").all()) {
    if (state !== "DONE" && state !== "FAILED") jobs.remove(sid);
  }
  const sessions = tables.table("sessions");
  for (const { key_sha256 } of sessions.find({ kind: "session" })) sessions.remove(key_sha256);
  const messages = tables.table("messages");
  for (const { name } of messages.all()) messages.remove(name);
  twin.startedMs = Math.floor(clock.now());
}

const CONTROL = "/server/control";
const control = (call: Call) =>
  feedResponse(call, {
    ...feedOf(call, "server-control", CONTROL, { restart: "restart" }),
    entries: [],
    paging: { total: 0, perPage: 30, offset: 0 },
  });

export const serverOperations = [
  ...route({
    id: "server.control",
    method: "GET",
    path: CONTROL,
    capability: "restart_splunkd",
    summary: "Say what can be done to the instance.",
    handle: control,
  }),
  ...route({
    id: "server.restart",
    method: "POST",
    path: `${CONTROL}/restart`,
    capability: "restart_splunkd",
    summary: "End sessions, searches at work and messages, as a restart does.",
    handle(call) {
      restart(call);
      return control(call);
    },
  }),
  ...route({
    id: "server.info",
    method: "GET",
    path: "/server/info",
    summary: "Say which version and what machine this is.",
    handle(call) {
      checkArguments(call, pageArguments);
      return singleResponse(call, infoEntry(call), "server-info", "/server/info", {});
    },
  }),
  ...route({
    id: "server.info",
    method: "GET",
    path: "/server/info/server-info",
    summary: "Say which version and what machine this is.",
    handle: (call) => singleResponse(call, infoEntry(call), "server-info", "/server/info", {}),
  }),
  ...route({
    id: "server.settings",
    method: "GET",
    path: "/server/settings",
    capability: "list_settings",
    summary: "Show the settings of the instance.",
    handle(call) {
      const content = {
        SPLUNK_DB: "/opt/splunk/var/lib/splunk",
        SPLUNK_HOME: "/opt/splunk",
        enableSplunkWebSSL: false,
        host: SERVER_NAME,
        httpport: 8000,
        kvStoreDisabled: false,
        kvStorePort: 8191,
        mgmtHostPort: 8089,
        minFreeSpace: 5000,
        serverName: SERVER_NAME,
        sessionTimeout: "1h",
        startwebserver: false,
        trustedIP: "",
      };
      const entry: Entry = {
        name: "settings",
        path: "/services/server/settings/settings",
        author: "system",
        updatedMs: call.twin.startedMs,
        links: { list: "" },
        acl: systemAcl,
        content,
      };
      return singleResponse(call, entry, "server-settings", "/server/settings", {});
    },
  }),
];
