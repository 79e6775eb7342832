/** Requests to the agent. */

import { phrase } from "@offhook/platform/testing/fuzz/fields";
import { encode, jsonText } from "@offhook/platform/testing/fuzz/mutation";
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import { jsonRefusal, type Shape } from "@offhook/platform/testing/fuzz/rules";
import { anyOf, hostileString, hostileValue, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";

const toolName = fc.oneof(
  words("who_is_on_call open_incident incident_status search_logs error_trend nope"),
  hostileString,
);
const toolArguments = fc.oneof<fc.Arbitrary<unknown>[]>(
  anyOf({
    service: words("checkout search nope"),
    severity: fc.constantFrom<unknown>(1, 2, 9, "x"),
    title: phrase,
    id: words("INC-1041 INC-1 x"),
    minutes: fc.constantFrom<unknown>(5, 60, -1, 1e9),
  }),
  hostileValue,
  phrase,
);
const toolCall = anyOf({
  id: fc.oneof(words("call_1 call_2"), hostileString),
  type: words("function x"),
  name: toolName,
  arguments: toolArguments,
  function: anyOf({ name: toolName, arguments: toolArguments }),
});
const message = anyOf({
  message: anyOf({
    type: words("tool-calls status-update x"),
    toolCallList: fc.array(toolCall, { maxLength: 3 }),
    toolWithToolCallList: hostileValue,
    call: anyOf({ id: phrase }),
    timestamp: hostileValue,
  }),
});

export function agentRequests(toolSecret: string): fc.Arbitrary<FuzzRequest> {
  const secret = fc.oneof(
    { weight: 15, arbitrary: fc.constant(toolSecret) },
    { weight: 1, arbitrary: words("x y") },
  );
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .record({ body: jsonText(message), secret, call: hostileString, simulation: words("s1 x/y ../..") })
        .map(({ body, ...given }) => ({
          method: "POST",
          path: "/tool",
          headers: {
            "content-type": "application/json",
            "x-offhook-secret": given.secret,
            "x-offhook-call": encode(given.call).slice(0, 200),
            "x-offhook-simulation": given.simulation,
          },
          body,
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({
          method: words("GET POST PUT DELETE PATCH OPTIONS"),
          path: words("/ /tool /voice /healthz /readyz /metrics /nope /%00 /tool/ //x"),
          body: fc.option(phrase, { nil: undefined }),
        })
        .map(({ method, path, body }) => ({
          method,
          path,
          headers: {},
          body: method === "GET" ? undefined : body,
        })),
    },
  );
}

const refusal = jsonRefusal("error", "results", "status");
export const agentShape: Shape = { refusal };
