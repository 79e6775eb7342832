/** Mapping routes. Fields come from written documents, and in `vendor` also from declared mappings. */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { Operation } from "@offhook/platform/http/operation";
import { invalidRequest } from "../documents/errors.ts";
import { expressionParameters, type Selection } from "../indices/expression.ts";
import { capabilitiesOf, fieldMapping, mappingOf } from "../indices/mapping.ts";
import { changeMappings } from "../indices/own-indices.ts";
import { ObjectParser, objectField, textsField } from "../json/object-parser.ts";
import type { Json } from "../json/read.ts";
import { readSearchBody } from "../search/request.ts";
import { countHits } from "../search/run.ts";
import type { SearchTwin } from "../search-twin.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { managementParameters, namedIndices, selectIndices } from "./indices.ts";

const parameters = [...expressionParameters, ...managementParameters, "write_index_only", "include_defaults"];

export const mappingOperations: readonly Operation<SearchTwin>[] = [
  ...["/_mapping", "/_mappings", "/:index/_mapping", "/:index/_mappings"].map((path) =>
    api({
      id: "mapping.get",
      method: "GET",
      path,
      summary: "Mappings of indices, declared or dynamic.",
      parameters,
      handle: getMapping,
    }),
  ),
  ...["/_mapping/field/:fields", "/:index/_mapping/field/:fields"].map((path) =>
    api({
      id: "mapping.field",
      method: "GET",
      path,
      summary: "The mapping of single fields.",
      parameters,
      handle: getFieldMapping,
    }),
  ),
  ...(["PUT", "POST"] as const)
    .flatMap((method) => ["/:index/_mapping", "/:index/_mappings"].map((path) => ({ method, path })))
    .map((route) =>
      api({
        id: "mapping.put",
        ...route,
        summary:
          "Adds to the mapping of indices in `vendor`; in `specification` it is acknowledged without effect.",
        parameters,
        handle: putMapping,
      }),
    ),
  ...(["GET", "POST"] as const).flatMap((method) =>
    ["/_field_caps", "/:index/_field_caps"].map((path) =>
      api({
        id: "field-caps",
        method,
        path,
        summary: "Types of fields, and whether they can be searched and aggregated.",
        parameters: [
          ...expressionParameters,
          "fields",
          "include_unmapped",
          "filters",
          "types",
          "include_empty_fields",
        ],
        handle: fieldCaps,
      }),
    ),
  ),
];

async function getMapping(call: Call, twin: SearchTwin): Promise<Answer> {
  const names = await namedIndices(call, twin);
  const { fields } = await twin.store();
  return { body: new Map(names.map((name) => [name, { mappings: mappingOf(fields, name) }])) };
}

async function putMapping(call: Call, twin: SearchTwin): Promise<Answer> {
  const body = call.object();
  if (twin.fidelity === "vendor") await changeMappings(await namedIndices(call, twin), body, twin);
  return { body: { acknowledged: true } };
}

async function getFieldMapping(call: Call, twin: SearchTwin): Promise<Answer> {
  const names = await namedIndices(call, twin);
  const { fields } = await twin.store();
  const patterns = call.segment("fields").split(",");
  const found = (index: string) =>
    fields
      .of(index)
      .all()
      .filter(({ name }) => patterns.some((pattern) => matchesPattern(name, pattern)))
      .map((field) => {
        const last = field.name.split(".").at(-1) ?? field.name;
        const mapping = { [last]: fieldMapping(field) };
        return [field.name, { full_name: field.name, mapping }] as const;
      });
  return { body: new Map(names.map((name) => [name, { mappings: new Map(found(name)) }])) };
}

/** The indices with an event that the query matches. @throws VendorError */
async function matchedIndices(
  query: Json,
  { names }: Selection,
  call: Call,
  twin: SearchTwin,
): Promise<string[]> {
  const request = readSearchBody({ query });
  const context = { ...(await call.openSearch(twin)), text: undefined };
  const matched: string[] = [];
  for (const name of names) {
    const selection = { names: [name], everything: false };
    if ((await countHits(request, { selection }, context)) > 0) matched.push(name);
  }
  return matched;
}

const fieldCapsParser = new ObjectParser<{ fields?: string[] }>("field_caps_request", {
  fields: textsField((fields, request) => {
    request.fields = fields;
  }),
  index_filter: objectField((content) => content.skipChildren()),
  runtime_mappings: objectField((content) => content.skipChildren()),
});

async function fieldCaps(call: Call, twin: SearchTwin): Promise<Answer> {
  const { index_filter: filter } = call.object();
  const patterns = call.parameters.list("fields") ?? fieldCapsParser.parse(call.content(), {}).fields;
  if (!patterns) throw invalidRequest(["no fields specified"]);
  const selection = await selectIndices(call, twin);
  const names = filter === undefined ? selection.names : await matchedIndices(filter, selection, call, twin);
  const { allFields: fields } = twin.fieldViews.of((await twin.store()).fields, selection);
  const types = call.parameters.list("types");
  const filters = call.parameters.list("filters") ?? [];
  const found = capabilitiesOf(fields).filter(
    ({ name, type, metadata }) =>
      patterns.some((pattern) => matchesPattern(name, pattern)) &&
      (!types || types.includes(type)) &&
      !(filters.includes("-metadata") && metadata) &&
      !(filters.includes("+metadata") && !metadata) &&
      !(filters.includes("-parent") && type === "object") &&
      !(filters.includes("-multifield") && name.endsWith(".keyword")),
  );
  const shown = found.map(({ name, type, metadata, searchable, aggregatable }) => {
    return [name, { [type]: { type, metadata_field: metadata, searchable, aggregatable } }] as const;
  });
  return { body: { indices: names, fields: new Map(names.length === 0 ? [] : shown) } };
}
