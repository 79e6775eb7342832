/** Bodies of the wrong shape are refused, never a failure. Proves a part of twins/SECURITY.md. */
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxOperations } from "../control/sandboxes.ts";
import { controlOperations } from "../control/serve.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startEnvironment("version: 1\nservices: []\n", { twins: [engine] });
});
afterAll(() => twins.stop());

const deep = `${'{"a":'.repeat(150)}1${"}".repeat(150)}`;
const bodies: [string, string][] = [
  ["nothing", ""],
  ["null", "null"],
  ["an array", "[]"],
  ["text", '"text"'],
  ["a number", "123"],
  ["an empty object", "{}"],
  ["members nobody asked for", '{"data":null,"entity_type":7,"profile":[],"changes":1,"id":{}}'],
  ["tables that are none", '{"data":{"events":[null],"__proto__":[{}],"constructor":[{}],"toString":[{}]}}'],
  ["rows with odd members", '{"data":{"events":[{"__proto__":{"x":1},"constructor":1,"id":{}}]}}'],
  ["a table named like a built-in", '{"entity_type":"constructor","key":"x","changes":{"__proto__":1}}'],
  [
    "columns named like built-ins",
    '{"entity_type":"events","where":{"toString":1},"changes":{"hasOwnProperty":1}}',
  ],
  [
    "deep nesting where anything goes",
    `{"service":"a","event_type":"b","data":{"x":${deep}},"metadata":${deep}}`,
  ],
  ["a long string", `{"id":"${"x".repeat(200_000)}"}`],
  ["bytes that are no text", "\u0000\ud800"],
  ["broken JSON", '{"data": {'],
];

/** Every answer is either a success or says in the one error shape what was wrong; never a failure of the server. */
async function probe(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<void> {
  const hasBody = method !== "GET";
  const answer = await request(method, url, { headers, ...(hasBody ? { body } : {}) });
  expect(answer.status, answer.text).toBeLessThan(500);
  if (answer.status >= 400)
    expect(answer.body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
}

describe.each(bodies)("%s as a body", (_name, body) => {
  test("never makes the control plane fail", async () => {
    const { control_url } = addressesOf(twins, "engine");
    for (const { id, method, path } of controlOperations) {
      if (id === "watch") continue;
      await probe(method, `${control_url}${path}`, { "x-api-key": twins.apiKey }, body);
    }
  });

  test("never makes the sandbox routes fail", async () => {
    for (const { method, path } of sandboxOperations) {
      const url = `${twins.baseUrl}${path.replace(":id", "probe")}`;
      await probe(method, url, { "x-api-key": twins.apiKey }, body);
    }
  });

  test("never makes the engine fail", async () => {
    await request("POST", `${twins.baseUrl}/simulations`, { body: { id: "probe" } });
    for (const { method, path } of engine.operations) {
      await probe(method, `${twins.baseUrl}${path.replace(":id", "probe")}`, {}, body);
    }
  });
});

test.each([
  "entity_type=constructor",
  "entity_type=__proto__",
  "entity_type=events&toString=1",
  "entity_type=events&__proto__=1",
  "entity_type=events&data={",
  "entity_type=events&entity_type=simulations",
  "entity_type=events&limit=1e3&offset=9007199254740993",
  "entity_type=%00",
])("the query %s never makes the control plane fail", async (query) => {
  const { control_url } = addressesOf(twins, "engine");
  await probe("GET", `${control_url}/sim/data?${query}`, { "x-api-key": twins.apiKey }, "");
  await probe("GET", `${control_url}/sim/requests?${query}`, { "x-api-key": twins.apiKey }, "");
});
