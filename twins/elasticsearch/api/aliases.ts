/** Alias routes, and data streams, which are acknowledged without effect. */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { Operation } from "@offhook/platform/http/operation";
import { type AliasChange, changeAliases, readAliasChanges } from "../indices/change-aliases.ts";
import { noSuchIndex } from "../indices/errors.ts";
import { splitExpression } from "../indices/expression.ts";
import { aliasesOf } from "../indices/index-registry.ts";
import type { SearchTwin } from "../search-twin.ts";
import { acknowledged, acknowledgedRoute, namingParameters } from "./acknowledged-routes.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { namedIndices } from "./indices.ts";

const readPaths = ["/_alias/:name", "/_aliases/:name", "/:index/_alias/:name", "/:index/_aliases/:name"];

export const aliasOperations: readonly Operation<SearchTwin>[] = [
  ...["/_alias", "/_aliases", "/:index/_alias", "/:index/_aliases"].map((path) =>
    api({
      id: "alias.get",
      method: "GET",
      path,
      summary: "The aliases of indices; in `specification` there are none.",
      parameters: namingParameters,
      handle: async (call, twin) => ({ body: await showAliases(call, twin, ["*"], "with all indices") }),
    }),
  ),
  ...readPaths.map((path) =>
    api({
      id: "alias.get",
      method: "GET",
      path,
      summary: "Aliases by their names.",
      parameters: namingParameters,
      handle: getAlias,
    }),
  ),
  ...["/_alias/:name", "/:index/_alias/:name"].map((path) =>
    api({
      id: "alias.exists",
      method: "HEAD",
      path,
      summary: "Whether aliases exist.",
      parameters: namingParameters,
      handle: async (call, twin) => ({
        status: (await getAlias(call, twin)).status ?? 200,
        body: "",
        contentType: "application/json",
      }),
    }),
  ),
  api({
    id: "alias.update",
    method: "POST",
    path: "/_aliases",
    summary: "Changes aliases in `vendor`; in `specification` it is acknowledged without effect.",
    parameters: namingParameters,
    handle: (call, twin) => change(call, twin, () => readAliasChanges(call.object())),
  }),
  ...(["PUT", "POST"] as const).flatMap((method) =>
    ["/:index/_alias/:name", "/:index/_aliases/:name"].map((path) =>
      api({
        id: `alias.put${method === "POST" ? ".post" : ""}`,
        method,
        path,
        summary: "Gives indices an alias in `vendor`; in `specification` it is acknowledged without effect.",
        parameters: namingParameters,
        handle: (call, twin) => change(call, twin, () => [changeOf("add", call)]),
      }),
    ),
  ),
  ...["/:index/_alias/:name", "/:index/_aliases/:name"].map((path) =>
    api({
      id: "alias.delete",
      method: "DELETE",
      path,
      summary: "Removes an alias in `vendor`; in `specification` it is acknowledged without effect.",
      parameters: namingParameters,
      handle: (call, twin) => change(call, twin, () => [changeOf("remove", call)]),
    }),
  ),
  ...["/_data_stream", "/_data_stream/:name"].map((path) =>
    api({
      id: "data-stream.get",
      method: "GET",
      path,
      summary: "Lists data streams: there is none.",
      parameters: namingParameters,
      handle: listDataStreams,
    }),
  ),
  acknowledgedRoute("data-stream.create", "PUT", "/_data_stream/:name", "a data stream"),
  acknowledgedRoute("data-stream.delete", "DELETE", "/_data_stream/:name", "the removal of a data stream"),
];

function changeOf(kind: "add" | "remove", call: Call): AliasChange {
  const [indices, aliases] = [splitExpression(call.segment("index")), call.segment("name").split(",")];
  return { kind, indices, aliases, given: kind === "add" ? call.object() : {}, mustExist: undefined };
}

async function change(call: Call, twin: SearchTwin, read: () => AliasChange[]): Promise<Answer> {
  if (twin.fidelity === "specification") {
    call.json();
    return acknowledged;
  }
  await changeAliases(read(), twin);
  return { body: { acknowledged: true, errors: false } };
}

/** Indices with those of their aliases that the request names. */
async function showAliases(
  call: Call,
  twin: SearchTwin,
  patterns: readonly string[],
  which: "with all indices" | "with these alone",
): Promise<Map<string, { aliases: object }>> {
  const names = await namedIndices(call, twin);
  const { fields } = await twin.store();
  const isMeant = (alias: string) => patterns.some((one) => one === "_all" || matchesPattern(alias, one));
  const shown = names.map((name) => {
    const found = Object.entries(aliasesOf(name, fields, twin)).filter(([alias]) => isMeant(alias));
    return [name, { aliases: Object.fromEntries(found) }] as const;
  });
  return new Map(
    shown.filter(([, { aliases }]) => which === "with all indices" || Object.keys(aliases).length > 0),
  );
}

async function getAlias(call: Call, twin: SearchTwin): Promise<Answer> {
  const wanted = call.segment("name").split(",");
  const found = await showAliases(call, twin, wanted, "with these alone");
  const there = new Set([...found.values()].flatMap(({ aliases }) => Object.keys(aliases)));
  const missing = wanted.filter((name) => name !== "_all" && !name.includes("*") && !there.has(name)).sort();
  if (missing.length === 0) return { body: found };
  const error = `alias${missing.length > 1 ? "es" : ""} [${missing.join(",")}] missing`;
  return { status: 404, body: { error, status: 404, ...Object.fromEntries(found) } };
}

function listDataStreams(call: Call): Answer {
  const name = call.segment("name");
  if (name === "" || name.includes("*") || name === "_all") return { body: { data_streams: [] } };
  throw noSuchIndex(name);
}
