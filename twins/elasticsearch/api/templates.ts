/**
 * Index and component templates, and what is acknowledged without effect: legacy templates, lifecycle policies, ingest
 * pipelines.
 */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { Method, Operation } from "@offhook/platform/http/operation";
import { ObjectParser, objectField, scalarField, textsField } from "../json/object-parser.ts";
import type { JsonObject } from "../json/read.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { acknowledged, acknowledgedRoute, namingParameters } from "./acknowledged-routes.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";

type Kind = "index" | "component";

export const templateOperations: readonly Operation<SearchTwin>[] = [
  ...(["index", "component"] as const).flatMap(templates),
  ...(["_template", "_ilm/policy", "_ingest/pipeline"] as const).flatMap(acknowledgedRoutes),
];

function templates(kind: Kind): Operation<SearchTwin>[] {
  const path = `/_${kind}_template` as const;
  const one = `${path}/:name` as const;
  const operation = (
    verb: string,
    method: Method,
    route: string,
    handle: (call: Call, twin: SearchTwin) => Answer,
  ) =>
    api({
      id: `${kind}-template.${verb}`,
      method,
      path: route,
      summary: `${kind === "index" ? "Index" : "Component"} templates; in \`specification\` there are none.`,
      parameters: namingParameters,
      handle,
    });
  const put = (call: Call, twin: SearchTwin) => putTemplate(kind, call, twin);
  return [
    operation("list", "GET", path, (_, twin) => showTemplates(kind, [...storedOf(kind, twin)])),
    operation("get", "GET", one, (call, twin) => getTemplates(kind, call, twin)),
    operation("exists", "HEAD", one, (call, twin) => ({
      status: findTemplates(kind, call, twin).length > 0 ? 200 : 404,
      body: "",
      contentType: "application/json",
    })),
    operation("put", "PUT", one, put),
    operation("put.post", "POST", one, put),
    operation("delete", "DELETE", one, (call, twin) => deleteTemplates(kind, call, twin)),
  ];
}

function storedOf(kind: Kind, { templates }: SearchTwin): Map<string, JsonObject> {
  return templates[kind];
}

function findTemplates(kind: Kind, call: Call, twin: SearchTwin): [string, JsonObject][] {
  const patterns = call.segment("name").split(",");
  return [...storedOf(kind, twin)].filter(([name]) => patterns.some((one) => matchesPattern(name, one)));
}

function showTemplates(kind: Kind, templates: readonly [string, JsonObject][]): Answer {
  const rows = templates.map(([name, template]) => ({ name, [`${kind}_template`]: template }));
  return { body: { [`${kind}_templates`]: rows } };
}

function getTemplates(kind: Kind, call: Call, twin: SearchTwin): Answer {
  const name = call.segment("name");
  const found = findTemplates(kind, call, twin);
  if (found.length > 0 || name.includes("*")) return showTemplates(kind, found);
  throw new VendorError(404, {
    type: "resource_not_found_exception",
    reason: `${kind} template matching [${name}] not found`,
  });
}

/** Accepts any object; the template itself is read later. */
const objects = objectField<object>((content) => content.skipChildren());
const lists = textsField<object>(() => {});
const scalars = scalarField<object>(() => {});

const syntax: Record<Kind, ObjectParser<object>> = {
  index: new ObjectParser<object>("index_template", {
    index_patterns: lists,
    template: objects,
    priority: scalars,
    composed_of: lists,
    version: scalars,
    _meta: objects,
    data_stream: objects,
    allow_auto_create: scalars,
    ignore_missing_component_templates: lists,
    deprecated: scalars,
  }),
  component: new ObjectParser<object>("component_template", {
    template: objects,
    version: scalars,
    _meta: objects,
    deprecated: scalars,
  }),
};

function putTemplate(kind: Kind, call: Call, twin: SearchTwin): Answer {
  const body = call.object();
  if (twin.fidelity === "specification") return acknowledged;
  syntax[kind].parse(call.content(), {});
  const name = call.segment("name");
  if (call.parameters.flag("create") === true && twin.templates[kind].has(name)) {
    throw illegalArgument(`${kind} template [${name}] already exists`);
  }
  if (kind === "index") twin.templates.putIndex(name, body);
  else twin.templates.putComponent(name, body);
  return acknowledged;
}

function deleteTemplates(kind: Kind, call: Call, twin: SearchTwin): Answer {
  if (twin.fidelity === "specification") return acknowledged;
  const wanted = call.segment("name").split(",");
  const names = findTemplates(kind, call, twin).map(([name]) => name);
  const missing = wanted.filter((name) => !name.includes("*") && !names.includes(name));
  if (missing.length > 0) {
    const listed = missing.join(",");
    throw new VendorError(
      404,
      kind === "index"
        ? { type: "index_template_missing_exception", reason: `index_template [${listed}] missing` }
        : { type: "resource_not_found_exception", reason: listed },
    );
  }
  if (kind === "component") twin.templates.checkUnused(names);
  for (const name of names) twin.templates[kind].delete(name);
  return acknowledged;
}

type Nominal = "_template" | "_ilm/policy" | "_ingest/pipeline";

function acknowledgedRoutes(path: Nominal): Operation<SearchTwin>[] {
  const id = path.replace("_", "").replaceAll("_", "-").replace("/", "-");
  const what = id.replaceAll("-", " ");
  const none = () => ({ body: {} });
  return [
    api({
      id: `${id}.list`,
      method: "GET",
      path: `/${path}`,
      summary: `Lists every ${what}: there is none.`,
      parameters: namingParameters,
      handle: none,
    }),
    api({
      id: `${id}.get`,
      method: "GET",
      path: `/${path}/:name`,
      summary: `One ${what}: there is none.`,
      parameters: namingParameters,
      handle: (call) => {
        const name = call.segment("name");
        if (name.includes("*")) return none();
        return { status: 404, body: {} };
      },
    }),
    acknowledgedRoute(`${id}.put`, "PUT", `/${path}/:name`, `one ${what}`),
    acknowledgedRoute(`${id}.delete`, "DELETE", `/${path}/:name`, `the removal of one ${what}`),
  ];
}
