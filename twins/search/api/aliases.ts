/** Aliases, data streams and templates: taken, and without effect. */
import type { Method, Operation } from "../../sandbox/operation.ts";
import { noSuchIndex } from "../indices/errors.ts";
import { expressionParameters } from "../indices/expression.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError } from "../vendor-error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { managementParameters, namedIndices } from "./indices.ts";

const parameters = [
  ...expressionParameters,
  ...managementParameters,
  "create",
  "cause",
  "flat_settings",
  "verbose",
];
const acknowledged: Answer = { body: { acknowledged: true } };

function acknowledging(id: string, method: Method, path: string, what: string): Operation<SearchTwin> {
  return api({
    id,
    method,
    path,
    summary: `Acknowledges ${what}, which has no effect.`,
    parameters,
    handle: (call) => {
      call.json();
      return acknowledged;
    },
  });
}

type Template = "_index_template" | "_component_template" | "_template" | "_ilm/policy" | "_ingest/pipeline";

const listedAs: Partial<Record<Template, string>> = {
  _index_template: "index_templates",
  _component_template: "component_templates",
};

export const aliasOperations: readonly Operation<SearchTwin>[] = [
  ...["/_alias", "/_aliases", "/:index/_alias"].map((path) =>
    api({
      id: "alias.get",
      method: "GET",
      path,
      summary: "The aliases of indices, of which there are none.",
      parameters,
      handle: async (call, twin) => ({
        body: new Map((await namedIndices(call, twin)).map((name) => [name, { aliases: {} }])),
      }),
    }),
  ),
  ...["/_alias/:name", "/:index/_alias/:name"].map((path) =>
    api({
      id: "alias.get",
      method: "GET",
      path,
      summary: "An alias, of which there is none.",
      parameters,
      handle: getAlias,
    }),
  ),
  acknowledging("alias.update", "POST", "/_aliases", "changes of aliases"),
  ...(["PUT", "POST"] as const).flatMap((method) => [
    acknowledging(`alias.put.${method.toLowerCase()}`, method, "/:index/_alias/:name", "an alias"),
    acknowledging("alias.put", method, "/:index/_aliases/:name", "an alias"),
  ]),
  acknowledging("alias.delete", "DELETE", "/:index/_alias/:name", "the end of an alias"),
  ...["/_data_stream", "/_data_stream/:name"].map((path) =>
    api({
      id: "data-stream.get",
      method: "GET",
      path,
      summary: "The data streams there are: none.",
      parameters,
      handle: listDataStreams,
    }),
  ),
  acknowledging("data-stream.create", "PUT", "/_data_stream/:name", "a data stream"),
  acknowledging("data-stream.delete", "DELETE", "/_data_stream/:name", "the end of a data stream"),
  ...(
    ["_index_template", "_component_template", "_template", "_ilm/policy", "_ingest/pipeline"] as const
  ).flatMap(templates),
];

function getAlias(call: Call): Answer {
  const name = call.segment("name");
  if (name.includes("*")) return { body: {} };
  return { status: 404, body: { error: `alias [${name}] missing`, status: 404 } };
}

function listDataStreams(call: Call): Answer {
  const name = call.segment("name");
  if (name === "" || name.includes("*") || name === "_all") return { body: { data_streams: [] } };
  throw noSuchIndex(name);
}

function templates(path: Template): Operation<SearchTwin>[] {
  const id = path.replace("_", "").replaceAll("_", "-").replace("/", "-");
  const what = id.replaceAll("-", " ");
  const member = listedAs[path];
  const none = () => ({ body: member === undefined ? {} : { [member]: [] } });
  return [
    api({
      id: `${id}.list`,
      method: "GET",
      path: `/${path}`,
      summary: `Every ${what}: there is none.`,
      parameters,
      handle: none,
    }),
    api({
      id: `${id}.get`,
      method: "GET",
      path: `/${path}/:name`,
      summary: `One ${what}: there is none.`,
      parameters,
      handle: (call) => {
        const name = call.segment("name");
        if (name.includes("*")) return none();
        if (member === undefined) return { status: 404, body: {} };
        throw new VendorError(404, {
          type: "resource_not_found_exception",
          reason: `${what} matching [${name}] not found`,
        });
      },
    }),
    acknowledging(`${id}.put`, "PUT", `/${path}/:name`, `one ${what}`),
    acknowledging(`${id}.delete`, "DELETE", `/${path}/:name`, `the end of one ${what}`),
  ];
}
