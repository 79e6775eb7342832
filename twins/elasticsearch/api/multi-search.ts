/** Many searches in one request; each has an answer or an error of its own. */

import type { Method, Operation } from "@offhook/platform/http/operation";
import { invalidRequest } from "../documents/errors.ts";
import {
  type ExpressionOptions,
  expressionParameters,
  readExpressionOptions,
} from "../indices/expression.ts";
import { isObject } from "../json/object.ts";
import { type Json, type JsonObject, readJson } from "../json/read.ts";
import { javaText, tokenOf } from "../json/token.ts";
import { scopeOf } from "../search/context.ts";
import { readSearchBody, type SearchRequest } from "../search/request.ts";
import { runSearch } from "../search/run.ts";
import { searchBody } from "../search/search-body.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument, VendorError, vendorErrorResponse } from "../vendor/error.ts";
import { Parameters } from "../vendor/parameters.ts";
import { type Answer, api, asVendorError } from "./answer.ts";
import type { Call } from "./call.ts";
import { spreadParameters } from "./search.ts";

const parameters = [
  ...expressionParameters,
  ...spreadParameters,
  "max_concurrent_searches",
  "rest_total_hits_as_int",
  "typed_keys",
];
const methods: Method[] = ["POST", "GET"];
/** Bounds the work of one request. */
const MAX_SEARCHES = 1000;

export const multiSearchOperations: readonly Operation<SearchTwin>[] = methods.flatMap((method) =>
  ["/_msearch", "/:index/_msearch"].map((path) =>
    api({
      id: "msearch",
      method,
      path,
      summary: "Many searches in one request.",
      parameters,
      handle,
    }),
  ),
);

interface OneSearch {
  expression: string | undefined;
  options: ExpressionOptions;
  request: SearchRequest;
}

/** Errors that refuse the whole request: the vendor parses every search before it runs the first. */
const UNREADABLE: ReadonlySet<string> = new Set(["parsing_exception", "x_content_parse_exception"]);

async function handle(call: Call, twin: SearchTwin): Promise<Answer> {
  const startedAt = performance.now();
  const searches = readSearches(call, twin);
  if (searches.length === 0) throw invalidRequest(["no requests added"]);
  const responses: object[] = [];
  // One after the other, so that a request holds one slot of the store's queue.
  for (const search of searches) responses.push(await runOne(search, call, twin));
  return { body: { took: Math.round(performance.now() - startedAt), responses } };
}

async function runOne(
  { expression, options, request }: OneSearch,
  call: Call,
  twin: SearchTwin,
): Promise<object> {
  try {
    const scope = await scopeOf(expression, options, twin);
    const typedKeys = call.parameters.flag("typed_keys") ?? false;
    const context = { ...(await call.openSearch(twin)), text: undefined };
    const result = await runSearch(request, scope, context, { typedKeys });
    const totalAsNumber = call.parameters.flag("rest_total_hits_as_int") ?? false;
    return { ...searchBody(result, request, { totalAsNumber }), status: 200 };
  } catch (error) {
    if (error instanceof VendorError && UNREADABLE.has(error.cause.type)) throw error;
    const { body: refused } = vendorErrorResponse(asVendorError(error));
    if (typeof refused === "object" && refused !== null) return refused;
    throw error;
  }
}

function readSearches(call: Call, { fidelity }: SearchTwin): OneSearch[] {
  const text = call.text();
  if (text === "")
    throw new VendorError(400, { type: "parse_exception", reason: "request body is required" });
  if (!text.endsWith("\n")) throw illegalArgument("The msearch request must be terminated by a newline [\n]");
  const lines = text.split("\n").slice(0, -1);
  const searches: OneSearch[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    const header = lines[at] ?? "";
    const { expression, options } = readHeader(header.trim() === "" ? {} : readLine(header), call);
    const text = lines[at + 1];
    // The vendor ignores a last header without a body.
    if (text === undefined) break;
    searches.push({ expression, options, request: readSearchBody(readLine(text), { text, fidelity }) });
  }
  if (searches.length > MAX_SEARCHES)
    throw illegalArgument(`a request may have at most ${MAX_SEARCHES} searches`);
  return searches;
}

function readLine(line: string): JsonObject {
  const json: Json | undefined = line.trim() === "" ? undefined : readJson(line);
  if (json !== undefined && isObject(json)) return json;
  const found = json === undefined ? "null" : tokenOf(json);
  throw new VendorError(400, {
    type: "parsing_exception",
    reason: `Expected [START_OBJECT] but found [${found}]`,
    ...(json !== undefined && { line: 1, col: 1 }),
  });
}

const passedOver = new Set([
  "search_type",
  "searchType",
  "request_cache",
  "requestCache",
  "preference",
  "routing",
  "ccs_minimize_roundtrips",
  "allow_partial_search_results",
]);

function readHeader(header: JsonObject, call: Call): Pick<OneSearch, "expression" | "options"> {
  const given = new URLSearchParams(call.request.query);
  let expression: string | undefined = call.segment("index") || undefined;
  for (const [name, value] of Object.entries(header)) {
    if (name === "index" || name === "indices") {
      expression = listText(value);
    } else if (expressionParameters.includes(name)) {
      given.set(name, listText(value));
    } else if (!passedOver.has(name)) {
      throw illegalArgument(`key [${name}] is not supported in the metadata section`);
    }
  }
  return { expression, options: readExpressionOptions(new Parameters(given)) };
}

/** A value as the vendor stringifies it; lists are joined by commas. */
function listText(value: Json): string {
  return Array.isArray(value) ? value.map(javaText).join(",") : javaText(value);
}
