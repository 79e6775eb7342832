/** The parts that alias and template routes share: their parameters, and routes that acknowledge without effect. */
import type { Method, Operation } from "@offhook/platform/http/operation";
import { expressionParameters } from "../indices/expression.ts";
import type { SearchTwin } from "../search-twin.ts";
import { type Answer, api } from "./answer.ts";
import { managementParameters } from "./indices.ts";

/** Parameters of alias and template routes. */
export const namingParameters = [
  ...expressionParameters,
  ...managementParameters,
  "create",
  "cause",
  "flat_settings",
  "verbose",
];

export const acknowledged: Answer = { body: { acknowledged: true } };

/** A route that acknowledges and changes nothing. @param what the effect it would have, for the summary */
export function acknowledgedRoute(
  id: string,
  method: Method,
  path: string,
  what: string,
): Operation<SearchTwin> {
  return api({
    id,
    method,
    path,
    summary: `Acknowledges ${what} without effect.`,
    parameters: namingParameters,
    handle: (call) => {
      call.json();
      return acknowledged;
    },
  });
}
