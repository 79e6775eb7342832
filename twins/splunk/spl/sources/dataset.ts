/** Datasets that commands read rows from: `datamodel:M.O`, `savedsearch:x`, `inputlookup:x`, or a subsearch. */

import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { cachedRelationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import type { Subsearch } from "../syntax/ast.ts";
import { dataModelRelation } from "./data-model.ts";
import { savedSearchRelation } from "./saved-search.ts";

export interface NamedDataset {
  kind: "named";
  type: "datamodel" | "savedsearch" | "inputlookup";
  name: string;
}

export type Dataset = NamedDataset | { kind: "subsearch"; subsearch: Subsearch };

const typed = /^(datamodel|savedsearch|inputlookup|lookup|federated):?/i;

/** Whether the next argument is a named dataset rather than a field. */
export function namedDatasetIsNext(reader: ArgumentReader): boolean {
  const { type, text } = reader.peek();
  return type === "word" && /^(datamodel|savedsearch|inputlookup|lookup|federated):/i.test(text);
}

/** Reads `datamodel:"Web.Web"`; a blank may replace the colon. */
export function readNamedDataset(reader: ArgumentReader): NamedDataset {
  const text = reader.field("a dataset");
  const matched = typed.exec(text);
  const type = matched?.[1]?.toLowerCase();
  if (matched === null || type === undefined) {
    return reader.fail(
      `Invalid dataset specifier '${text}', expected dataset-type:dataset-name. Verify your search string.`,
    );
  }
  if (type === "federated") return reader.fail("Federated datasets are not served here.");
  const rest = text.slice(matched[0].length);
  const name = rest === "" ? reader.field("the name of a dataset") : rest;
  if (type === "lookup") return { kind: "named", type: "inputlookup", name };
  return { kind: "named", type: type === "datamodel" || type === "savedsearch" ? type : "inputlookup", name };
}

/** Reads a named dataset or a subsearch, if one is next. */
export function readDataset(reader: ArgumentReader): Dataset | undefined {
  const subsearch = reader.subsearch();
  if (subsearch !== undefined) return { kind: "subsearch", subsearch };
  return namedDatasetIsNext(reader) ? readNamedDataset(reader) : undefined;
}

/** The rows of a dataset. @param command for error messages @throws SplError of phase `run` */
export async function datasetRelation(
  command: string,
  dataset: Dataset,
  context: SearchContext,
): Promise<Relation> {
  if (dataset.kind === "subsearch") return context.subrelation(dataset.subsearch.pipeline);
  switch (dataset.type) {
    case "datamodel":
      return dataModelRelation(command, dataset.name, context);
    case "savedsearch":
      return savedSearchRelation(command, dataset.name, context);
    case "inputlookup":
      return lookupRelation(command, dataset.name, context);
  }
}

/** The rows of a lookup table. @throws SplError of phase `run` */
export async function lookupRelation(
  command: string,
  name: string,
  context: SearchContext,
): Promise<Relation> {
  const table = await context.knowledge.lookup(name);
  if (table === undefined) throw noSuchLookup(command, name);
  return cachedRelationOf(table, `lookup ${name}`);
}

function noSuchLookup(command: string, name: string) {
  const message = /\.csv(\.gz)?$/i.test(name)
    ? `The lookup table '${name}' requires a .csv or KV store lookup definition.`
    : `The lookup table '${name}' does not exist or is not available.`;
  return commandError(command, message, "run");
}

/** Whether each row is made from one event alone. Two such datasets can be merged by time. */
export function isStreaming(dataset: Dataset, relation: Relation): boolean {
  if (relation.kind !== "events") return false;
  return (
    dataset.kind === "named" || dataset.subsearch.pipeline.commands.every(({ kind }) => kind === "streaming")
  );
}
