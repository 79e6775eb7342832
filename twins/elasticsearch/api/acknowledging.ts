/** What aliases and templates have in common: their parameters, and routes that are acknowledged and change nothing. */
import type { Method, Operation } from "@offhook/platform/http/operation";
import { expressionParameters } from "../indices/expression.ts";
import type { SearchTwin } from "../search-twin.ts";
import { type Answer, api } from "./answer.ts";
import { managementParameters } from "./indices.ts";

/** What the routes of aliases and templates take. */
export const namingParameters = [
  ...expressionParameters,
  ...managementParameters,
  "create",
  "cause",
  "flat_settings",
  "verbose",
];

export const acknowledged: Answer = { body: { acknowledged: true } };

/** @param what it would be, for the route's summary */
export function acknowledging(id: string, method: Method, path: string, what: string): Operation<SearchTwin> {
  return api({
    id,
    method,
    path,
    summary: `Acknowledges ${what}, which has no effect.`,
    parameters: namingParameters,
    handle: (call) => {
      call.json();
      return acknowledged;
    },
  });
}
