/** Index routes: in `specification` an index is only a name, in `vendor` it is created and removed. */

import type { FieldCatalog } from "@offhook/log-store/fields";
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { Operation } from "@offhook/platform/http/operation";
import { resolveDateMath } from "../indices/date-math-name.ts";
import { checkIndexName, noSuchIndex } from "../indices/errors.ts";
import {
  expressionParameters,
  readExpressionOptions,
  type Selection,
  splitExpression,
} from "../indices/expression.ts";
import { aliasesOf, aliasTargets, knownIndices } from "../indices/index-registry.ts";
import { mappingOf } from "../indices/mapping.ts";
import { createIndex, removeIndices } from "../indices/own-indices.ts";
import { ownMapping } from "../indices/own-mapping.ts";
import { flatten, nest, settingsOf } from "../indices/settings.ts";
import { scopeOf } from "../search/context.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument } from "../vendor/error.ts";
import { searchShards } from "../vendor/node.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";

export const managementParameters = ["master_timeout", "timeout", "local"];
const parameters = [
  ...expressionParameters,
  ...managementParameters,
  "wait_for_active_shards",
  "features",
  "flat_settings",
  "include_defaults",
  "include_type_name",
];

/** The indices of the path, or all of them. */
export async function selectIndices(call: Call, twin: SearchTwin): Promise<Selection> {
  const { selection } = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  return selection;
}

const maintenanceParameters = [
  "force",
  "wait_if_ongoing",
  "max_num_segments",
  "only_expunge_deletes",
  "flush",
  "wait_for_completion",
  "fielddata",
  "query",
  "request",
  "fields",
];

export const indexOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "index.exists",
    method: "HEAD",
    path: "/:index",
    summary: "Whether an index exists.",
    parameters,
    handle: exists,
  }),
  api({
    id: "index.get",
    method: "GET",
    path: "/:index",
    summary: "Aliases, mappings and settings of indices.",
    parameters,
    handle: get,
  }),
  api({
    id: "index.create",
    method: "PUT",
    path: "/:index",
    summary: "Creates an index in `vendor`; in `specification` it is acknowledged without effect.",
    parameters,
    handle: create,
  }),
  api({
    id: "index.delete",
    method: "DELETE",
    path: "/:index",
    summary: "Removes indices in `vendor`; in `specification` it is acknowledged without effect.",
    parameters,
    handle: remove,
  }),
  api({
    id: "index.resolve",
    method: "GET",
    path: "/_resolve/index/:name",
    summary: "Resolves an index expression.",
    parameters: expressionParameters,
    handle: resolve,
  }),
  ...(["/_refresh", "/_flush", "/_forcemerge", "/_cache/clear"] as const).flatMap((path) =>
    (["POST", "GET"] as const)
      .filter((method) => method === "POST" || path === "/_refresh" || path === "/_flush")
      .flatMap((method) =>
        [path, `/:index${path}` as const].map((route) =>
          api({
            id: `index${path.replaceAll("/", ".").replaceAll("_", "")}`,
            method,
            path: route,
            summary: "Acknowledges a refresh: writes are searchable at once.",
            parameters: [...expressionParameters, ...maintenanceParameters],
            handle: maintain,
          }),
        ),
      ),
  ),
  ...(["_open", "_close"] as const).map((verb) =>
    api({
      id: `index${verb.replace("_", ".")}`,
      method: "POST",
      path: `/:index/${verb}`,
      summary: "Acknowledged without effect.",
      parameters,
      handle: () => ({ body: { acknowledged: true, shards_acknowledged: true } }),
    }),
  ),
  ...(["GET", "PUT"] as const).flatMap((method) =>
    (method === "GET"
      ? ["/_settings", "/:index/_settings", "/:index/_settings/:name"]
      : ["/_settings", "/:index/_settings"]
    ).map((path) =>
      api({
        id: method === "GET" ? "settings.get" : "settings.put",
        method,
        path,
        summary: method === "GET" ? "Settings of indices." : "Acknowledges settings without effect.",
        parameters: [...parameters, "preserve_existing", "reopen"],
        handle: method === "GET" ? getSettings : () => ({ body: { acknowledged: true } }),
      }),
    ),
  ),
];

async function exists(call: Call, twin: SearchTwin): Promise<Answer> {
  const known = await knownIndices(twin);
  const aliases = await aliasTargets(twin);
  const options = readExpressionOptions(call.parameters);
  const names = splitExpression(call.segment("index")).map((name) => resolveDateMath(name, twin.clock.now()));
  const found = names.every((name) => {
    if (name === "_all" || name.includes("*")) {
      return options.allowNoIndices || known.some((one) => name === "_all" || matchesPattern(one, name));
    }
    return known.includes(name) || aliases.has(name) || options.ignoreUnavailable;
  });
  return { status: found ? 200 : 404, body: "", contentType: "application/json" };
}

async function get(call: Call, twin: SearchTwin): Promise<Answer> {
  const names = await namedIndices(call, twin);
  const { fields } = await twin.store();
  const flat = call.parameters.flag("flat_settings") ?? false;
  const features = call.parameters.list("features") ?? ["aliases", "mappings", "settings"];
  const shown = names.map((name) => {
    const settings = settingsFor(name, fields, twin);
    const described = {
      ...(features.includes("aliases") ? { aliases: aliasesOf(name, fields, twin) } : {}),
      ...(features.includes("mappings") ? { mappings: mappingOf(fields, name) } : {}),
      ...(features.includes("settings")
        ? { settings: flat ? Object.fromEntries(flatten(settings)) : settings }
        : {}),
    };
    return [name, described] as const;
  });
  return { body: new Map(shown) };
}

function settingsFor(name: string, fields: FieldCatalog, { startedMs }: SearchTwin): object {
  const { createdMs = startedMs, settings } = ownMapping(fields, name)?.described ?? {};
  return settingsOf(name, createdMs, settings);
}

/** Existing indices of the path. A missing concrete name is a 404 in both fidelities: this is not a search. */
export async function namedIndices(call: Call, twin: SearchTwin): Promise<readonly string[]> {
  const known = new Set([...(await knownIndices(twin)), ...(await aliasTargets(twin)).keys()]);
  const options = readExpressionOptions(call.parameters);
  for (const part of splitExpression(call.segment("index"))) {
    const name = resolveDateMath(part, twin.clock.now());
    if (name.includes("*") || name.startsWith("-") || name === "_all" || known.has(name)) continue;
    if (!options.ignoreUnavailable) throw noSuchIndex(name);
  }
  const { names } = await selectIndices(call, { ...twin, fidelity: "vendor" });
  return names;
}

async function create(call: Call, twin: SearchTwin): Promise<Answer> {
  const name = resolveDateMath(call.segment("index"), twin.clock.now());
  checkIndexName(name);
  const body = call.object();
  if (twin.fidelity === "vendor") await createIndex(name, body, twin);
  return { body: { acknowledged: true, shards_acknowledged: true, index: name } };
}

async function remove(call: Call, twin: SearchTwin): Promise<Answer> {
  const parts = splitExpression(call.segment("index"));
  if (twin.fidelity === "vendor") {
    if (parts.some((part) => part === "_all" || part.includes("*"))) {
      throw illegalArgument("Wildcard expressions or all indices are not allowed");
    }
    const aliases = await aliasTargets(twin);
    const alias = parts.find((part) => aliases.has(part));
    if (alias !== undefined) {
      throw illegalArgument(
        `The provided expression [${alias}] matches an alias, specify the corresponding concrete indices instead.`,
      );
    }
    await removeIndices(await namedIndices(call, twin), twin);
  }
  return { body: { acknowledged: true } };
}

async function resolve(call: Call, twin: SearchTwin): Promise<Answer> {
  const options = readExpressionOptions(call.parameters);
  const { selection } = await scopeOf(call.segment("name"), options, { ...twin, fidelity: "vendor" });
  const { fields } = await twin.store();
  const targets = await aliasTargets(twin);
  const parts = splitExpression(call.segment("name"));
  const isMeant = (alias: string) => parts.some((part) => part === "_all" || matchesPattern(alias, part));
  return {
    body: {
      indices: selection.names.map((name) => {
        const aliases = Object.keys(aliasesOf(name, fields, twin)).sort();
        return { name, ...(aliases.length === 0 ? {} : { aliases }), attributes: ["open"] };
      }),
      aliases: [...targets]
        .filter(([alias]) => isMeant(alias))
        .map(([name, indices]) => ({ name, indices: indices.map(({ index }) => index) })),
      data_streams: [],
    },
  };
}

async function maintain(call: Call, twin: SearchTwin): Promise<Answer> {
  const { names } = await selectIndices(call, twin);
  const { skipped: _, ...shards } = searchShards(names.length);
  return { body: { _shards: { ...shards, total: names.length * 2 } } };
}

async function getSettings(call: Call, twin: SearchTwin): Promise<Answer> {
  const names = await namedIndices(call, twin);
  const { fields } = await twin.store();
  const flat = call.parameters.flag("flat_settings") ?? false;
  const patterns = call.segment("name") === "" ? ["*"] : call.segment("name").split(",");
  const shown = names.map((name) => {
    const kept = flatten(settingsFor(name, fields, twin)).filter(([setting]) =>
      patterns.some((pattern) => pattern === "_all" || matchesPattern(setting, pattern)),
    );
    return [name, { settings: flat ? Object.fromEntries(kept) : nest(kept) }] as const;
  });
  return { body: new Map(shown) };
}
