/** Many documents by their ids. */

import type { Method, Operation } from "@offhook/platform/http/operation";
import { invalidRequest } from "../documents/errors.ts";
import { placeKey, readDocuments } from "../documents/stored.ts";
import { readIndexOf } from "../indices/aliases.ts";
import { noSuchIndex } from "../indices/errors.ts";
import { aliasTargets, knownIndices } from "../indices/index-registry.ts";
import { isObject } from "../json/object.ts";
import type { Json } from "../json/read.ts";
import {
  readSourceParameters,
  type SourceFilter,
  sourceFilterOf,
  wholeSource,
} from "../search/source-filter.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument } from "../vendor/error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { foundBody } from "./document-answer.ts";
import { readParameters } from "./documents.ts";

const methods: Method[] = ["POST", "GET"];

export const multiGetOperations: readonly Operation<SearchTwin>[] = methods.flatMap((method) =>
  ["/_mget", "/:index/_mget"].map((path) =>
    api({
      id: "mget",
      method,
      path,
      summary: "Many documents by their ids.",
      parameters: readParameters,
      handle,
    }),
  ),
);

interface RequestedDocument {
  index: string;
  id: string;
  source: SourceFilter;
}

async function handle(call: Call, twin: SearchTwin): Promise<Answer> {
  const aliases = await aliasTargets(twin);
  const wanted = readItems(call).map((one) => ({ ...one, index: readIndexOf(one.index, aliases) }));
  const known = await knownIndices(twin);
  const found = await readDocuments(await twin.store(), wanted);
  const docs = wanted.map(({ index, id, source }) => {
    if (!known.includes(index)) {
      const { cause } = noSuchIndex(index);
      return { _index: index, _id: id, error: { root_cause: [cause], ...cause } };
    }
    const document = found.get(placeKey({ index, id }));
    return document ? foundBody({ ...document, id }, source) : { _index: index, _id: id, found: false };
  });
  return { body: { docs } };
}

function readItems(call: Call): RequestedDocument[] {
  const { docs, ids } = call.object();
  const ofUrl = call.segment("index");
  const source = readSourceParameters(call.parameters) ?? wholeSource;
  const listed: RequestedDocument[] = [];
  if (Array.isArray(ids)) {
    for (const id of ids) listed.push({ index: ofUrl, id: idOf(id), source });
  } else if (Array.isArray(docs)) {
    for (const doc of docs) listed.push(readDoc(doc, ofUrl, source));
  }
  const problems = listed.flatMap(({ index, id }, number) => [
    ...(index === "" ? [`index is missing for doc ${number}`] : []),
    ...(id === "" ? [`id is missing for doc ${number}`] : []),
  ]);
  if (listed.length === 0) problems.push("no documents to get");
  if (problems.length > 0) throw invalidRequest(problems);
  return listed;
}

function readDoc(doc: Json, ofUrl: string, source: SourceFilter): RequestedDocument {
  if (!isObject(doc)) throw illegalArgument("docs array element should include an object");
  const { _index, _id, _source } = doc;
  return {
    index: typeof _index === "string" ? _index : ofUrl,
    id: _id === undefined ? "" : idOf(_id),
    source: _source === undefined ? source : sourceFilterOf(_source),
  };
}

function idOf(json: Json): string {
  if (typeof json === "object") throw illegalArgument("ids array element should only contain ids");
  return String(json);
}
