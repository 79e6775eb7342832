/**
 * Data models as the API writes them: JSON with objects that inherit from one another. Searches go by the rows of the world, where each object
 * has its whole constraint, and its fields by the names they have in events.
 */
import { z } from "zod";
import type { DataModelRow } from "../world/knowledge-tables.ts";

/** What the API takes of a model that cannot be served, or is none. */
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
  const given = parsed(json);
  const known = new Map<string, RowObject>();
  for (const object of given.objects) known.set(object.objectName, rowObject(object, known));
  return { given, objects: [...known.values()] };
}

function parsed(json: string): Definition {
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

/** @param known the objects before it: its parent is one of them */
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
    constraint: baseSearch ?? joined(constraints),
    fields: { ...parent?.fields, ...Object.fromEntries(own), ...calculated(object) },
  };
}

const joined = (searches: readonly string[]) =>
  searches.length === 1 ? (searches[0] ?? "") : searches.map((search) => `(${search})`).join(" ");

/** Fields that are other fields under another name; more than that is not computed. */
function calculated({ objectName, calculations }: ModelObject): Record<string, string> {
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

/** A model as the API shows it: as it was sent, or made from the rows. */
export function definitionOf(row: DataModelRow): object {
  const given = row.definition === "" ? undefined : parsed(row.definition);
  const objects = given?.objects ?? row.objects.map((object, index) => shownObject(object, row, index));
  const lineages = new Map<string, string>();
  return {
    modelName: row.name,
    displayName: given?.displayName || row.name,
    description: given?.description ?? "",
    objects: objects.map((object) => {
      const above = lineages.get(object.parentName);
      const lineage = above === undefined ? object.objectName : `${above}.${object.objectName}`;
      lineages.set(object.objectName, lineage);
      return { ...object, lineage, ...owned(object, lineage) };
    }),
    objectNameList: objects.map(({ objectName }) => objectName),
  };
}

/** Whose its fields and constraints are: its own, unless they say otherwise. */
function owned({ fields, constraints, calculations }: ModelObject, owner: string) {
  return {
    fields: fields.map((one) => shownField(one, owner)),
    constraints: constraints.map((one) => ({ owner, ...one })),
    calculations: calculations.map((one) => ({
      owner,
      editable: true,
      ...one,
      outputFields: one.outputFields.map((output) => shownField(output, owner)),
    })),
  };
}

function shownField(given: z.output<typeof field>, owner: string) {
  const { fieldName } = given;
  const usual = { required: false, multivalue: false, hidden: false, editable: true, displayName: fieldName };
  return { ...usual, comment: "", fieldSearch: "", ...given, owner: given.owner || owner };
}

function shownObject(
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
