/** The body of a request. */
import type { Sql } from "../../datasets/sql.ts";
import type { LogStore } from "../../datasets/store/log-store.ts";
import type { Json, JsonObject } from "../json/read.ts";
import type { Fidelity } from "../query/compiled-query.ts";
import { VendorError } from "../vendor-error.ts";
import type { EsqlRequest } from "./run.ts";

export interface EsqlBody extends EsqlRequest {
  columnar: boolean;
}

/** @throws VendorError for what is no request */
export function readRequest(
  body: JsonObject,
  _context: { store: LogStore; fidelity: Fidelity; nowMs: number },
): EsqlBody {
  const { query } = body;
  if (typeof query !== "string") throw missingQuery(query);
  const filter: Sql | undefined = undefined;
  return { query, params: [], filter, columnar: body.columnar === true };
}

function missingQuery(_given: Json | undefined): VendorError {
  return new VendorError(400, {
    type: "action_request_validation_exception",
    reason: "Validation Failed: 1: [query] is required;",
  });
}
