/** What the detections refer to: their macros and lookups, and those of Splunk's other add-ons that they use. */
import type { DataModelObject, Knowledge, Macro } from "../../twins/log-query/spl/knowledge.ts";
import type { Rows } from "../../twins/log-query/spl/rows.ts";
import type { DetectionMacro, Repository } from "./repository.ts";

/** Macros of the common information model's and the security suite's add-ons. */
const otherMacros: readonly DetectionMacro[] = [
  { name: "drop_dm_object_name", args: ["object"], definition: 'rename "$object$.*" as "*"' },
  { name: "cim_corporate_web_domain_search", args: ["field"], definition: '$field$="example.com"' },
  { name: "get_asset", args: ["field"], definition: "eval $field$_asset=$field$" },
];

export function knowledgeOf({ detections, macros, lookups }: Repository): Knowledge {
  const byName = new Map(
    [...otherMacros, ...macros].map((macro): [string, Macro] => [
      `${macro.name}(${macro.args.length})`,
      { ...macro, isEval: false },
    ]),
  );
  const fields = new Map(lookups.map((lookup) => [lookup.name, lookup.fields]));
  const models = dataModels(detections.map(({ search }) => search));
  return {
    macro: (name, args) => byName.get(`${name}(${args})`) ?? filterMacro(name, args),
    savedSearch: () => undefined,
    lookup: async (name) => rowOf(fields.get(name.replace(/\.csv$/, "")) ?? []),
    writeLookup: async () => {},
    removeLookup: async () => {},
    tagged: () => [],
    tagsOf: () => [],
    eventType: () => undefined,
    dataModel: (name) => models.get(name.toLowerCase()) ?? [],
    jobResults: async () => undefined,
    rest: async () => undefined,
    collect: async () => {},
    indexes: async () => ["main"],
    defaultIndexes: () => ["main"],
  };
}

/** Each detection ends in a macro of its own, which the add-on makes when it is built. */
function filterMacro(name: string, args: number): Macro | undefined {
  if (args > 0 || !name.endsWith("_filter")) return undefined;
  return { name, args: [], definition: "search *", isEval: false };
}

function rowOf(fields: readonly string[]): Rows {
  return {
    fields: fields.map((name) => ({ name, type: "text", multi: false })),
    rows: [fields.map((name) => name)],
  };
}

/** The data models that searches name, with those of their objects that they name; all events are in them. */
function dataModels(searches: readonly string[]): Map<string, DataModelObject[]> {
  const models = new Map<string, DataModelObject[]>();
  for (const search of searches) {
    const nodes = [...search.matchAll(/nodename\s*=\s*"?[\w.]*?(\w+)\b(?!\.)/gi)].map(
      ([, node = ""]) => node,
    );
    for (const [, model = "", object = model] of search.matchAll(
      /datamodel\s*[=:]?\s*"?(\w+)"?(?:\."?(\w+)"?)?/gi,
    )) {
      const objects = models.get(model.toLowerCase()) ?? [];
      for (const name of [object, ...nodes]) {
        if (objects.some((known) => known.object === name)) continue;
        objects.push({ model, object: name, constraint: "", fields: {} });
      }
      models.set(model.toLowerCase(), objects);
    }
  }
  return models;
}
