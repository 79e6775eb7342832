/** Validation, explanation and analysis: what a query matches and why, and the tokens of a text. */

import type { sql } from "@offhook/log-store/sql";
import { withCurrentFields } from "@offhook/log-store/store/store-reader";
import type { Token } from "@offhook/log-store/text/analysis";
import type { Operation } from "@offhook/platform/http/operation";
import { invalidRequest } from "../documents/errors.ts";
import { readIndexOf } from "../indices/aliases.ts";
import { noSuchIndex } from "../indices/errors.ts";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import { aliasTargets, knownIndices } from "../indices/index-registry.ts";
import { contentError } from "../json/content-error.ts";
import type { ContentParser } from "../json/content-parser.ts";
import { flagField, ObjectParser, textField, textsField } from "../json/object-parser.ts";
import { compactJson } from "../json/write.ts";
import { analyzers } from "../query/compile/analyzers.ts";
import { targetOf } from "../query/compile/target.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import { UnservedError } from "../query/errors.ts";
import { compileRequested } from "../search/compile-search.ts";
import { narrow, type SearchScope, scopeOf } from "../search/context.ts";
import { showExplanation } from "../search/hits.ts";
import { readSourceParameters, sourceParameters } from "../search/source-filter.ts";
import { readUrlQuery, urlQueryParameters } from "../search/url-parameters.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { searchShards } from "../vendor/node.ts";
import { isShardFailure } from "../vendor/shard-failure.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { gotBody } from "./document-answer.ts";

export const inspectOperations: readonly Operation<SearchTwin>[] = (["GET", "POST"] as const).flatMap(
  (method) => {
    return [
      ...["/_validate/query", "/:index/_validate/query"].map((path) =>
        api({
          id: "validate",
          method,
          path,
          summary: "Validates a query.",
          parameters: [...expressionParameters, ...urlQueryParameters, "explain", "rewrite", "all_shards"],
          handle: validate,
        }),
      ),
      api({
        id: "explain",
        method,
        path: "/:index/_explain/:id",
        summary: "Explains the score of a document.",
        parameters: [...urlQueryParameters, ...sourceParameters, "preference", "routing", "stored_fields"],
        handle: explain,
      }),
      ...["/_analyze", "/:index/_analyze"].map((path) =>
        api({
          id: "analyze",
          method,
          path,
          summary: "Splits a text into tokens.",
          parameters: ["index", "prefer_local"],
          handle: analyzeText,
        }),
      ),
    ];
  },
);

async function compiledQuery(
  call: Call,
  twin: SearchTwin,
  scope: SearchScope,
  options: Pick<QueryContext, "validated"> = {},
) {
  const context = narrow(await call.openSearch(twin), scope);
  const query = { ...context.query, ...options };
  return compileRequested(readUrlQuery(call.parameters), call.object().query, { ...context, query });
}

async function validate(call: Call, twin: SearchTwin): Promise<Answer> {
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const { skipped: _, ...shards } = searchShards(1);
  const explained = call.parameters.flag("explain") ?? false;
  try {
    await compiledQuery(call, twin, scope, { validated: true });
    const explanation = call.parameters.text("q") ?? compactJson(call.object().query ?? { match_all: {} });
    const explanations = scope.selection.names.map((index) => ({ index, valid: true, explanation }));
    return { body: { _shards: shards, valid: true, ...(explained ? { explanations } : {}) } };
  } catch (error) {
    // A query that this twin does not serve may still be valid for the vendor.
    if (!(error instanceof VendorError) || error instanceof UnservedError) throw error;
    const reason = `${error.cause.type}: ${error.cause.reason}`;
    // Mistakes about fields are found by shards; a query with a syntax error never reaches one.
    const asked = isShardFailure(error) ? { _shards: shards } : {};
    return { body: { ...asked, valid: false, ...(explained ? { error: reason } : {}) } };
  }
}

async function explain(call: Call, twin: SearchTwin): Promise<Answer> {
  const index = readIndexOf(call.segment("index"), await aliasTargets(twin));
  const id = call.segment("id");
  if (!(await knownIndices(twin)).includes(index)) throw noSuchIndex(index);
  const store = await twin.store();
  const [document] = await store.byId(index, [id], { signal: call.signal });
  if (!document) return { status: 404, body: { _index: index, _id: id, matched: false } };
  const scope = await scopeOf(index, readExpressionOptions(call.parameters), twin);
  const ask = async (statement: ReturnType<typeof sql>) =>
    (await store.query(statement, { signal: call.signal })).rows;
  const explanation = await withCurrentFields(store, async () => {
    const query = await compiledQuery(call, twin, scope);
    return query.explain(ask, BigInt(document.row));
  });
  const filter = readSourceParameters(call.parameters);
  return {
    body: {
      _index: index,
      _id: id,
      matched: explanation !== undefined,
      explanation: showExplanation(
        explanation ?? { value: 0, description: "no matching clause", details: [] },
      ),
      ...(filter
        ? {
            get: gotBody(document, filter),
          }
        : {}),
    },
  };
}

interface Word {
  token: string;
  start_offset: number;
  end_offset: number;
  type: string;
  position: number;
}

/** The options of `_analyze`. */
interface Analysis {
  texts: string[];
  analyzer: string | undefined;
  field: string | undefined;
  tokenizer: string | undefined;
  filters: string[];
  /** The first mistake in an inline definition; the vendor reports it after reading the whole body. */
  problem: string | undefined;
}

const analysisParser = new ObjectParser<Analysis>("analyze_request", {
  text: textsField((texts, analysis) => {
    analysis.texts = texts;
  }),
  analyzer: textField((analyzer, analysis) => {
    analysis.analyzer = analyzer;
  }),
  field: textField((field, analysis) => {
    analysis.field = field;
  }),
  tokenizer: {
    tokens: ["VALUE_STRING", "START_OBJECT"],
    read(content, analysis) {
      analysis.tokenizer = readComponent("tokenizer", content, analysis);
    },
  },
  filter: {
    tokens: ["START_ARRAY"],
    read(content, analysis) {
      for (let token = content.next(); token !== "END_ARRAY"; token = content.next()) {
        if (token !== "VALUE_STRING" && token !== "START_OBJECT") {
          throw contentError(`Expected [VALUE_STRING] or [START_OBJECT], got ${token}`, content.location);
        }
        analysis.filters.push(readComponent("filter", content, analysis));
      }
    },
  },
  char_filter: { tokens: ["START_ARRAY"], read: refuseSteps },
  normalizer: textField(refuseSteps),
  explain: flagField((isAsked) => {
    if (isAsked) throw illegalArgument("This twin analyses without [explain]");
  }),
  attributes: textsField(() => undefined),
});

function refuseSteps(): never {
  throw illegalArgument("This twin analyses without [char_filter] and [normalizer]");
}

/** The name of a tokenizer or filter, or the type of an inline definition. */
function readComponent(what: string, content: ContentParser, analysis: Analysis): string {
  if (content.token === "VALUE_STRING") return content.text();
  const { json } = content;
  content.skipChildren();
  const { type, ...settings } = isRecord(json) ? json : {};
  const [setting] = Object.keys(settings);
  if (typeof type !== "string") {
    analysis.problem ??= `Missing [type] setting for anonymous ${what}: ${compactJson(json)}`;
  } else if (setting !== undefined) {
    analysis.problem ??= `This twin analyses with a [${what}] as it is, without [${setting}]`;
  }
  return String(type);
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null;
}

/** @throws VendorError */
function readAnalysis(content: ContentParser): Analysis {
  const read: Analysis = {
    texts: [],
    analyzer: undefined,
    field: undefined,
    tokenizer: undefined,
    filters: [],
    problem: undefined,
  };
  analysisParser.parse(content, read);
  if (read.problem !== undefined) throw illegalArgument(read.problem);
  const problems = [
    ...(read.texts.length === 0 ? ["text is missing"] : []),
    ...(read.analyzer !== undefined && (read.tokenizer !== undefined || read.filters.length > 0)
      ? ["cannot define extra components on a named analyzer"]
      : []),
  ];
  if (problems.length > 0) throw invalidRequest(problems);
  return read;
}

async function analyzeText(call: Call, twin: SearchTwin): Promise<Answer> {
  const { texts, analyzer, field, tokenizer, filters } = readAnalysis(call.content());
  const custom = tokenizer !== undefined || filters.length > 0;
  for (const name of filters) {
    if (name !== "lowercase") throw illegalArgument(`failed to find global filter under [${name}]`);
  }
  // Filters without a tokenizer are a normalizer: the text stays one token.
  const chosen = custom
    ? (tokenizer ?? "keyword")
    : (analyzer ?? (field === undefined ? "standard" : await analyzerOf(field, twin)));
  const cut = custom && !TOKENIZERS.has(chosen) ? undefined : analyzers[chosen];
  if (!cut) {
    throw illegalArgument(
      custom
        ? `failed to find global tokenizer under [${chosen}]`
        : `failed to find global analyzer [${chosen}]`,
    );
  }
  const tokens: Word[] = [];
  let offset = 0;
  let position = 0;
  for (const one of texts) {
    const words = cut(one);
    for (const word of words) {
      const token = custom ? one.slice(word.start, word.end) : word.term;
      tokens.push({
        token: filters.includes("lowercase") ? token.toLowerCase() : token,
        start_offset: word.start + offset,
        end_offset: word.end + offset,
        type: tokenType(chosen, word),
        position: word.position - 1 + position,
      });
    }
    offset += one.length + 1;
    position += (words.at(-1)?.position ?? 0) + POSITION_GAP;
  }
  return { body: { tokens } };
}

/** Analyzers that share their tokenizer's name. */
const TOKENIZERS: ReadonlySet<string> = new Set(["standard", "keyword", "whitespace"]);

/** Positions between two texts. */
const POSITION_GAP = 100;

/** The analyzer of a field: `keyword` unless it holds text. */
async function analyzerOf(field: string, twin: SearchTwin): Promise<string> {
  const { fields } = await twin.store();
  const target = targetOf({ fields, fidelity: "vendor" }, field, "words");
  return target.kind === "words" || target.kind === "missing" ? "standard" : "keyword";
}

/** The `type` that `_analyze` gives a token. */
function tokenType(analyzer: string, { term }: Token): string {
  if (analyzer === "fingerprint") return "fingerprint";
  if (analyzer !== "standard" && analyzer !== "default" && analyzer !== "english") return "word";
  return /^\p{Nd}/u.test(term) ? "<NUM>" : "<ALPHANUM>";
}
