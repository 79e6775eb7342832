/** How the twin reads things: what a query matches and why, and which words a text has. */
import { analyze } from "../../datasets/analysis.ts";
import type { sql } from "../../datasets/sql.ts";
import type { Operation } from "../../sandbox/operation.ts";
import { noSuchIndex } from "../indices/errors.ts";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import { knownIndices } from "../indices/known-indices.ts";
import { compactJson } from "../json/write.ts";
import { searchShards } from "../node.ts";
import { targetOf } from "../query/compile/target.ts";
import { compileAsked } from "../search/compile-search.ts";
import { shownExplanation } from "../search/hits.ts";
import { openSearch, type SearchScope, scopeOf, within } from "../search/run.ts";
import { readSourceParameters, sourceParameters } from "../search/source-filter.ts";
import { readUrlQuery, urlQueryParameters } from "../search/url-parameters.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError } from "../vendor-error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { gotBody } from "./document-answer.ts";
import { illegal } from "./parameters.ts";

export const inspectOperations: readonly Operation<SearchTwin>[] = (["GET", "POST"] as const).flatMap(
  (method) => {
    return [
      ...["/_validate/query", "/:index/_validate/query"].map((path) =>
        api({
          id: "validate",
          method,
          path,
          summary: "Whether a query is one.",
          parameters: [...expressionParameters, ...urlQueryParameters, "explain", "rewrite", "all_shards"],
          handle: validate,
        }),
      ),
      api({
        id: "explain",
        method,
        path: "/:index/_explain/:id",
        summary: "Why a document has its score.",
        parameters: [...urlQueryParameters, ...sourceParameters, "preference", "routing", "stored_fields"],
        handle: explain,
      }),
      ...["/_analyze", "/:index/_analyze"].map((path) =>
        api({
          id: "analyze",
          method,
          path,
          summary: "The words of a text.",
          parameters: ["index", "prefer_local"],
          handle: analyzeText,
        }),
      ),
    ];
  },
);

async function compiledQuery(call: Call, twin: SearchTwin, scope: SearchScope) {
  const context = within(await openSearch(call, twin), scope);
  return compileAsked(readUrlQuery(call.parameters), call.object().query, context);
}

async function validate(call: Call, twin: SearchTwin): Promise<Answer> {
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const { skipped: _, ...shards } = searchShards(1);
  const explained = call.parameters.flag("explain") ?? false;
  try {
    await compiledQuery(call, twin, scope);
    const explanation = call.parameters.text("q") ?? compactJson(call.object().query ?? { match_all: {} });
    const explanations = scope.selection.names.map((index) => ({ index, valid: true, explanation }));
    return { body: { _shards: shards, valid: true, ...(explained ? { explanations } : {}) } };
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    const reason = `${error.cause.type}: ${error.cause.reason}`;
    return { body: { valid: false, ...(explained ? { error: reason } : {}) } };
  }
}

async function explain(call: Call, twin: SearchTwin): Promise<Answer> {
  const index = call.segment("index");
  const id = call.segment("id");
  if (!(await knownIndices(twin)).includes(index)) throw noSuchIndex(index);
  const store = await twin.store();
  const [document] = await store.byId(index, [id], { signal: call.signal });
  if (!document) return { status: 404, body: { _index: index, _id: id, matched: false } };
  const query = await compiledQuery(
    call,
    twin,
    await scopeOf(index, readExpressionOptions(call.parameters), twin),
  );
  const ask = async (statement: ReturnType<typeof sql>) =>
    (await store.query(statement, { signal: call.signal })).rows;
  const explanation = await query.explain(ask, BigInt(document.row));
  const filter = readSourceParameters(call.parameters);
  return {
    body: {
      _index: index,
      _id: id,
      matched: explanation !== undefined,
      explanation: shownExplanation(
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

async function analyzeText(call: Call, twin: SearchTwin): Promise<Answer> {
  const { text, analyzer, field, tokenizer, filter, char_filter, normalizer, ...rest } = call.object();
  for (const name of Object.keys(rest)) throw illegal(`[analyze_request] unknown field [${name}]`);
  if (char_filter !== undefined || normalizer !== undefined) {
    throw illegal("This twin analyses without [char_filter] and [normalizer]");
  }
  const texts = (Array.isArray(text) ? text : text === undefined ? [] : [text]).map(String);
  if (texts.length === 0) throw illegal("Text is missing");
  const chosen =
    typeof field === "string" ? await analyzerOf(field, twin) : String(analyzer ?? tokenizer ?? "standard");
  const filters = (Array.isArray(filter) ? filter : filter === undefined ? [] : [filter]).map(String);
  for (const name of filters) {
    if (name !== "lowercase") throw illegal(`failed to find global filter under [${name}]`);
  }
  const keepsCase = tokenizer !== undefined && !filters.includes("lowercase");
  const cut = analyzers[chosen];
  if (!cut) throw illegal(`failed to find global analyzer [${chosen}]`);
  const tokens: Word[] = [];
  let offset = 0;
  let position = 0;
  for (const one of texts) {
    const words = cut(one);
    for (const word of words) {
      const token = keepsCase ? one.slice(word.start_offset, word.end_offset) : word.token;
      tokens.push({
        ...word,
        token: filters.includes("lowercase") ? token.toLowerCase() : token,
        start_offset: word.start_offset + offset,
        end_offset: word.end_offset + offset,
        position: word.position + position,
      });
    }
    offset += one.length + 1;
    position += words.length + POSITION_GAP;
  }
  return { body: { tokens } };
}

/** Between two texts. */
const POSITION_GAP = 100;

/** What a field is analysed with: what is no text is taken as a whole. */
async function analyzerOf(field: string, twin: SearchTwin): Promise<string> {
  const { fields } = await twin.store();
  const target = targetOf({ fields, fidelity: "vendor" }, field, "words");
  return target.kind === "words" || target.kind === "missing" ? "standard" : "keyword";
}

const analyzers: Record<string, ((text: string) => Word[]) | undefined> = {
  standard: (text) =>
    analyze(text).map(({ term, position, start, end }) => ({
      token: term,
      start_offset: start,
      end_offset: end,
      type: /^\p{Nd}/u.test(term) ? "<NUM>" : "<ALPHANUM>",
      position: position - 1,
    })),
  keyword: (text) => [{ token: text, start_offset: 0, end_offset: text.length, type: "word", position: 0 }],
  whitespace: (text) => cutBy(text, /\S+/g, (token) => token),
  simple: (text) => cutBy(text, /\p{L}+/gu, (token) => token.toLowerCase()),
};

function cutBy(text: string, pattern: RegExp, shown: (token: string) => string): Word[] {
  return [...text.matchAll(pattern)].map((match, position) => ({
    token: shown(match[0]),
    start_offset: match.index,
    end_offset: match.index + match[0].length,
    type: "word",
    position,
  }));
}
