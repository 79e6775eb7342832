/** Authentication and licence: every user may do everything, under a basic licence. */

import type { Operation } from "@offhook/platform/http/operation";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument } from "../vendor/error.ts";
import { build, uuidOf } from "../vendor/node.ts";
import { api } from "./answer.ts";

export const securityOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "security.authenticate",
    method: "GET",
    path: "/_security/_authenticate",
    summary: "The caller's user; any credentials are accepted.",
    handle: (call) => {
      const user = userOf(call.request.headers.authorization);
      return {
        body: {
          username: user,
          roles: ["superuser"],
          full_name: null,
          email: null,
          metadata: { _reserved: true },
          enabled: true,
          authentication_realm: { name: "reserved", type: "reserved" },
          lookup_realm: { name: "reserved", type: "reserved" },
          authentication_type: "realm",
        },
      };
    },
  }),
  api({
    id: "security.has-privileges",
    method: "POST",
    path: "/_security/user/_has_privileges",
    summary: "Privileges of the caller: everything is allowed.",
    handle: (call) => {
      const { cluster = [], index = [] } = call.object();
      if (!Array.isArray(cluster) || !Array.isArray(index))
        throw illegalArgument("[cluster] and [index] must be arrays");
      return {
        body: {
          username: userOf(call.request.headers.authorization),
          has_all_requested: true,
          cluster: Object.fromEntries(cluster.map((name) => [String(name), true])),
          index: {},
          application: {},
        },
      };
    },
  }),
  api({
    id: "license",
    method: "GET",
    path: "/_license",
    summary: "The licence: basic, without an end.",
    parameters: ["accept_enterprise", "local"],
    handle: (_call, twin) => ({
      body: {
        license: {
          status: "active",
          uid: uuidOf("licence"),
          type: "basic",
          issue_date: new Date(twin.startedMs).toISOString(),
          issue_date_in_millis: twin.startedMs,
          max_nodes: 1000,
          max_resource_units: null,
          issued_to: "docker-cluster",
          issuer: "elasticsearch",
          start_date_in_millis: -1,
        },
      },
    }),
  }),
  api({
    id: "xpack.info",
    method: "GET",
    path: "/_xpack",
    summary: "Features of the cluster.",
    parameters: ["categories", "accept_enterprise"],
    handle: () => ({
      body: {
        build: { hash: build.build_hash, date: build.build_date },
        license: { uid: uuidOf("licence"), type: "basic", mode: "basic", status: "active" },
        features: Object.fromEntries(
          features.map(([name, there]) => [name, { available: there, enabled: there }]),
        ),
        tagline: "You know, for X",
      },
    }),
  }),
];

const features: [name: string, there: boolean][] = [
  ["esql", true],
  ["data_streams", true],
  ["aggregate_metric", false],
  ["ilm", false],
  ["ml", false],
  ["security", false],
  ["sql", false],
  ["transform", false],
  ["watcher", false],
];

/** The user of a `Basic` header; `elastic` for any other or none. */
function userOf(header: string | undefined): string {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(header ?? "") ?? [];
  if (encoded === undefined) return "elastic";
  return Buffer.from(encoded, "base64").toString("utf8").split(":")[0] || "elastic";
}
