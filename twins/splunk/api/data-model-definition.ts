/**
 * Data models as the API has them: JSON with objects that inherit from one another. Searches use rows, where each object has its whole
 * constraint and the names of its fields in events.
 */
import { z } from "zod";
import type { DataModelRow } from "../world/knowledge-tables.ts";

/** The definition is invalid, or uses a feature that the twin does not support. */
export class UnservedModel extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnservedModel";
  }
}

const text = z.string().default("");
const field = z.looseObject({
  fieldName: z.string().min(1),
  owner: text,
  type: z.string().default("string"),
});
const definition = z.looseObject({
  displayName: text,
  description: text,
  objects: z
    .array(
      z.looseObject({
        objectName: z.string().min(1),
        displayName: text,
        parentName: z.string().default("BaseEvent"),
        baseSearch: z.string().optional(),
        fields: z.array(field).default([]),
        constraints: z.array(z.looseObject({ search: text })).default([]),
        calculations: z
          .array(
            z.looseObject({
              calculationID: z.string().min(1),
              calculationType: text,
              expression: text,
              outputFields: z.array(field).default([]),
            }),
          )
          .default([]),
      }),
    )
    .max(1000)
    .default([]),
});

type Definition = z.output<typeof definition>;
type ModelObject = Definition["objects"][number];
type RowObject = DataModelRow["objects"][number];

/** @throws UnservedModel */
export function readDefinition(json: string): { given: Definition; objects: RowObject[] } {
  const given = parseDefinition(json);
  const known = new Map<string, RowObject>();
  for (const object of given.objects) known.set(object.objectName, rowObject(object, known));
  return { given, objects: [...known.values()] };
}

function parseDefinition(json: string): Definition {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new UnservedModel("The description of a data model must be JSON.");
  }
  const result = definition.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UnservedModel(`The data model is wrong at ${issue?.path.join(".")}: ${issue?.message}.`);
}

/** @param known the preceding objects, the parent among them */
function rowObject(object: ModelObject, known: ReadonlyMap<string, RowObject>): RowObject {
  const { objectName, parentName, baseSearch } = object;
  const parent = known.get(parentName);
  if (!parent && !["BaseEvent", "BaseSearch"].includes(parentName)) {
    throw new UnservedModel(
      `The parent '${parentName}' of the object '${objectName}' is not served, or comes after it.`,
    );
  }
  const constraints = [
    ...(parent && parent.constraint !== "" ? [parent.constraint] : []),
    ...object.constraints.map(({ search }) => search).filter((search) => search.trim() !== ""),
  ];
  const own = object.fields.map(({ fieldName }) => [fieldName, fieldName] as const);
  return {
    name: objectName,
    constraint: baseSearch ?? joinConstraints(constraints),
    fields: { ...parent?.fields, ...Object.fromEntries(own), ...readCalculations(object) },
  };
}

const joinConstraints = (searches: readonly string[]) =>
  searches.length === 1 ? (searches[0] ?? "") : searches.map((search) => `(${search})`).join(" ");

/** Reads calculations that rename a field; others are not supported. */
function readCalculations({ objectName, calculations }: ModelObject): Record<string, string> {
  const named = calculations.map(({ calculationID, calculationType, expression, outputFields }) => {
    const [, quoted, bare] = /^\s*(?:'([^']+)'|([A-Za-z_][\w.]*))\s*$/.exec(expression) ?? [];
    const source = quoted ?? bare;
    const [output] = outputFields;
    if (calculationType === "Eval" && source !== undefined && output) return [output.fieldName, source];
    throw new UnservedModel(
      `The calculation '${calculationID}' of the object '${objectName}' is not served: only an Eval that names a field is.`,
    );
  });
  return Object.fromEntries(named);
}

/** The definition of a model as the API shows it: as sent, or built from the row. */
export function definitionOf(row: DataModelRow): object {
  const given = row.definition === "" ? undefined : parseDefinition(row.definition);
  const objects = given?.objects ?? row.objects.map((object, index) => objectOfRow(object, row, index));
  const lineages = new Map<string, string>();
  return {
    modelName: row.name,
    displayName: given?.displayName || row.name,
    description: given?.description ?? "",
    objects: objects.map((object) => {
      const above = lineages.get(object.parentName);
      const lineage = above === undefined ? object.objectName : `${above}.${object.objectName}`;
      lineages.set(object.objectName, lineage);
      return { ...object, lineage, ...withOwner(object, lineage) };
    }),
    objectNameList: objects.map(({ objectName }) => objectName),
  };
}

/** Adds the owner to fields, constraints and calculations that do not name one. */
function withOwner({ fields, constraints, calculations }: ModelObject, owner: string) {
  return {
    fields: fields.map((one) => fieldEntry(one, owner)),
    constraints: constraints.map((one) => ({ owner, ...one })),
    calculations: calculations.map((one) => ({
      owner,
      editable: true,
      ...one,
      outputFields: one.outputFields.map((output) => fieldEntry(output, owner)),
    })),
  };
}

function fieldEntry(given: z.output<typeof field>, owner: string) {
  const { fieldName } = given;
  const defaults = {
    required: false,
    multivalue: false,
    hidden: false,
    editable: true,
    displayName: fieldName,
  };
  return { ...defaults, comment: "", fieldSearch: "", ...given, owner: given.owner || owner };
}

function objectOfRow(
  { name, constraint, fields }: RowObject,
  { objects }: DataModelRow,
  index: number,
): ModelObject {
  const same = Object.entries(fields).filter(([field, source]) => field === source);
  const renamed = Object.entries(fields).filter(([field, source]) => field !== source);
  const output = (fieldName: string) => ({ fieldName, owner: "", type: "string" });
  return {
    objectName: name,
    displayName: name,
    parentName: index === 0 ? "BaseEvent" : (objects[0]?.name ?? "BaseEvent"),
    fields: same.map(([field]) => output(field)),
    constraints: constraint === "" ? [] : [{ search: constraint }],
    calculations: renamed.map(([field, source]) => ({
      calculationID: `${name}_${field}`,
      calculationType: "Eval",
      expression: `'${source}'`,
      outputFields: [output(field)],
    })),
  };
}
