/** What the detections refer to: their macros and lookups, and those of Splunk's other add-ons that they use. */
import { z } from "zod";
import type { DataModelObject, Knowledge } from "../spl/context/knowledge.ts";
import type { Rows } from "../spl/relation/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { Macro } from "../spl/syntax/macros.ts";
import type { DetectionMacro, Repository } from "./repository.ts";

const pair = z.object({ table: z.string() });
const lookupArguments = z.object({ name: z.string(), keys: z.array(pair), destinations: z.array(pair) });

/** Macros of the common information model's and the security suite's add-ons. */
const otherMacros: readonly DetectionMacro[] = [
  { name: "drop_dm_object_name", args: ["object"], definition: 'rename "$object$.*" as "*"' },
  { name: "cim_corporate_web_domain_search", args: ["field"], definition: '$field$="example.com"' },
  { name: "get_asset", args: ["field"], definition: "eval $field$_asset=$field$" },
];

/** @param pipelines searches that have been read: the tables that they look up have the fields they name */
export function knowledgeOf(
  { detections, macros, lookups }: Repository,
  pipelines: () => Iterable<Pipeline>,
): Knowledge {
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
    eventTypes: () => [],
    lookup: async (name) =>
      rowOf([
        ...new Set([...(fields.get(name.replace(/\.csv$/, "")) ?? []), ...lookedUp(name, pipelines())]),
      ]),
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

/** The fields of a table that searches name. */
function lookedUp(table: string, pipelines: Iterable<Pipeline>): string[] {
  return [...pipelines].flatMap(({ commands }) =>
    commands.flatMap(({ args }) => {
      const read = lookupArguments.safeParse(args);
      if (!read.success || read.data.name !== table) return [];
      return [...read.data.keys, ...read.data.destinations].map((pair) => pair.table);
    }),
  );
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
    const nodes = [...search.matchAll(/nodename\s*=\s*"?(?:[\w.]*\.)?(\w+)/gi)].map(([, node = ""]) => node);
    for (const [, model = "", object = model] of search.matchAll(
      /datamodel\s*(?:[=:]\s*)?"?(\w+)"?(?:\."?(\w+)"?)?/gi,
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
