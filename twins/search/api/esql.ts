/**
 * ES|QL.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-query-api.html
 */
import type { Operation } from "../../sandbox/operation.ts";
import { readRequest } from "../esql/request.ts";
import { type EsqlContext, type EsqlResult, runEsql } from "../esql/run.ts";
import { warningHeaders } from "../esql/warnings.ts";
import { knownIndices } from "../indices/known-indices.ts";
import type { SearchTwin } from "../search-twin.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";

export const esqlOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "esql.query",
    method: "POST",
    path: "/_query",
    summary: "Runs an ES|QL query.",
    parameters: ["delimiter", "drop_null_columns"],
    async handle(call, twin) {
      return answer(await query(call, twin));
    },
  }),
];

async function query(call: Call, twin: SearchTwin): Promise<EsqlResult> {
  const context: EsqlContext = {
    store: await twin.store(),
    fidelity: twin.fidelity,
    nowMs: twin.clock.now(),
    indices: await knownIndices(twin),
    signal: call.signal,
  };
  const request = readRequest(call.object(), context);
  const result = await runEsql(request, context);
  call.noteSql(result.statements);
  return result;
}

function answer({ columns, values, warnings }: EsqlResult): Answer {
  return { body: { columns, values }, headers: warningHeaders(warnings) };
}
