/** Mappings and fields: made by what was written, never declared. */

import type { Operation } from "../../sandbox/operation.ts";
import { matchesPattern } from "../../sandbox/star-pattern.ts";
import { expressionParameters } from "../indices/expression.ts";
import { capabilitiesOf, fieldMapping, mappingOf } from "../indices/mapping.ts";
import type { SearchTwin } from "../search-twin.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { managementParameters, namedIndices, selectIndices } from "./indices.ts";
import { illegal } from "./parameters.ts";

const parameters = [...expressionParameters, ...managementParameters, "write_index_only", "include_defaults"];

export const mappingOperations: readonly Operation<SearchTwin>[] = [
  ...["/_mapping", "/:index/_mapping"].map((path) =>
    api({
      id: "mapping.get",
      method: "GET",
      path,
      summary: "The fields there are, as dynamic mapping would have mapped them.",
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
  ...(["PUT", "POST"] as const).map((method) =>
    api({
      id: "mapping.put",
      method,
      path: "/:index/_mapping",
      summary: "Acknowledges a mapping, which has no effect: fields follow from what is written.",
      parameters,
      handle: (call) => {
        call.object();
        return { body: { acknowledged: true } };
      },
    }),
  ),
  ...(["GET", "POST"] as const).flatMap((method) =>
    ["/_field_caps", "/:index/_field_caps"].map((path) =>
      api({
        id: "field-caps",
        method,
        path,
        summary: "What can be done with fields.",
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
  return { body: new Map(names.map((name) => [name, { mappings: mappingOf(fields) }])) };
}

async function getFieldMapping(call: Call, twin: SearchTwin): Promise<Answer> {
  const names = await namedIndices(call, twin);
  const { fields } = await twin.store();
  const patterns = call.segment("fields").split(",");
  const found = fields
    .all()
    .filter(({ name }) => patterns.some((pattern) => matchesPattern(name, pattern)))
    .map((field) => {
      const last = field.name.split(".").at(-1) ?? field.name;
      return [field.name, { full_name: field.name, mapping: { [last]: fieldMapping(field) } }] as const;
    });
  return { body: new Map(names.map((name) => [name, { mappings: new Map(found) }])) };
}

async function fieldCaps(call: Call, twin: SearchTwin): Promise<Answer> {
  const { fields: ofBody } = call.object();
  const patterns =
    call.parameters.list("fields") ??
    (Array.isArray(ofBody) ? ofBody.map(String) : ofBody === undefined ? undefined : [String(ofBody)]);
  if (!patterns) throw illegal("action_request_validation_exception: no fields specified");
  const { names } = await selectIndices(call, twin);
  const { fields } = await twin.store();
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
