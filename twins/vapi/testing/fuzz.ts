/** Requests to the Vapi twin. */

import { phrase } from "@offhook/platform/testing/fuzz/fields";
import { jsonText, queryOf } from "@offhook/platform/testing/fuzz/mutation";
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import { jsonRefusal, type Shape } from "@offhook/platform/testing/fuzz/rules";
import { type ListedOperation, pathOf, requestsTo } from "@offhook/platform/testing/fuzz/targets";
import { anyOf, hostileString, hostileValue, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";

const VAPI_KEY = "vapi-twin-key";
const MOMENT = "2026-01-30T09:00:00.000Z";
/** Id of an assistant and a call that exist from the start; the twin generates all other ids. */
const KNOWN_ID = "00000000-0000-4000-8000-000000000000";
const made = { id: KNOWN_ID, org_id: "org", created_at: MOMENT, updated_at: MOMENT };
/** Rows with that id; the call has ended. */
export const vapiRows = {
  assistants: [{ ...made, assistant: { name: "fuzzed" } }],
  calls: [{ ...made, status: "ended", audio_format: { format: "pcm_s16le", sampleRate: 24_000 } }],
};

/** One of the words that the vendor accepts, and sometimes another. */
const acceptedWords = (list: string) =>
  fc.oneof({ weight: 15, arbitrary: words(list) }, { weight: 1, arbitrary: words("x twilio constructor") });
/** A provider with its required members, and further ones. */
function withProvider<T>(members: { [Name in keyof T]: fc.Arbitrary<T[Name]> }, more: fc.Arbitrary<object>) {
  return fc.tuple(fc.record(members), more).map(([must, may]) => ({ ...may, ...must }));
}
/** An object, and sometimes something else. */
const record = fc.oneof(
  { weight: 12, arbitrary: fc.dictionary(phrase, hostileValue, { maxKeys: 3 }) },
  { weight: 1, arbitrary: hostileValue },
);

const tool = fc.record({
  type: fc.constant("function"),
  function: anyOf({ name: words("a b_c"), description: phrase, parameters: record }),
  // Never requested: no call is connected.
  server: anyOf({
    url: acceptedWords("http://127.0.0.1:9/tool"),
    timeoutSeconds: fc.constantFrom(1, 20, 20, 300, 0),
  }),
});
const assistant = anyOf({
  name: phrase,
  firstMessage: phrase,
  firstMessageMode: acceptedWords("assistant-speaks-first assistant-waits-for-user"),
  model: withProvider(
    { provider: acceptedWords("openai"), model: acceptedWords("gpt-4o gpt-4o-mini") },
    anyOf({
      messages: fc.array(anyOf({ role: acceptedWords("system user assistant"), content: phrase }), {
        maxLength: 2,
      }),
      tools: fc.array(tool, { maxLength: 2 }),
      temperature: fc.constantFrom(0, 0.5, 1, 2, 3),
    }),
  ),
  voice: withProvider(
    { provider: acceptedWords("11labs"), voiceId: words("burt marissa x") },
    fc.constant({}),
  ),
  transcriber: withProvider(
    { provider: acceptedWords("deepgram") },
    anyOf({ model: words("nova-2 nova-3"), language: acceptedWords("en") }),
  ),
  silenceTimeoutSeconds: fc.constantFrom(10, 30, 30, 3600, -1),
  metadata: record,
});
const anyCall = anyOf({
  transport: fc.oneof(
    { weight: 4, arbitrary: fc.constant({ provider: "vapi.websocket" }) },
    {
      weight: 1,
      arbitrary: anyOf({
        provider: acceptedWords("vapi.websocket"),
        audioFormat: anyOf({
          format: acceptedWords("pcm_s16le mulaw"),
          container: words("raw wav"),
          sampleRate: fc.constantFrom<unknown>(24_000, 8_000, 0, 1e9, "x"),
        }),
      }),
    },
  ),
  assistant,
  assistantId: fc.oneof({ weight: 3, arbitrary: fc.constant(KNOWN_ID) }, { weight: 1, arbitrary: phrase }),
  name: phrase,
});
/** Most calls have an assistant and only valid members. */
const call = fc.oneof(
  { weight: 4, arbitrary: fc.record({ transport: fc.constant({ provider: "vapi.websocket" }), assistant }) },
  { weight: 1, arbitrary: fc.constant({ transport: { provider: "vapi.websocket" }, assistantId: KNOWN_ID }) },
  { weight: 2, arbitrary: anyCall },
  { weight: 1, arbitrary: fc.record({ metadata: hostileValue, assistant }) },
);
const changes = anyOf({ name: phrase, metadata: hostileValue });
const control = anyOf({
  type: words("say add-message control end-call transfer x"),
  content: phrase,
  control: words("mute x"),
});

const parameters = {
  id: fc.oneof(
    { weight: 4, arbitrary: fc.constant(KNOWN_ID) },
    { weight: 1, arbitrary: fc.oneof(words("nope 00000000-0000-4000-8000-0000000000ff"), hostileString) },
  ),
};
/** DELETE uses unknown ids, because the known rows must stay. */
const unknownIds = { id: fc.oneof(words("nope x"), hostileString) };
const query = queryOf({
  limit: words("1 5 1000 1001 -1 x 1e2"),
  createdAtGt: acceptedWords("2026-01-30T09:00:00Z 2026-11-01T00:00:00Z"),
});

export const vapiRequests = (operations: readonly ListedOperation[]) =>
  requestsTo(
    operations.filter(({ method }) => method !== "WEBSOCKET"),
    requestOf,
  );

function requestOf({ method, path }: ListedOperation): fc.Arbitrary<FuzzRequest> {
  const body = path.includes("control")
    ? control
    : path.startsWith("/assistant")
      ? assistant
      : method === "PATCH"
        ? changes
        : call;
  return fc
    .record({
      path: pathOf(path, method === "DELETE" ? unknownIds : parameters, parameters.id),
      query: method === "GET" ? query : fc.constant(""),
      body: method === "GET" ? fc.constant(undefined) : jsonText(body),
      key: fc.oneof({ weight: 30, arbitrary: fc.constant(VAPI_KEY) }, { weight: 1, arbitrary: words("x y") }),
    })
    .map((made) => ({
      method,
      path: `${made.path}${made.query}`,
      headers: {
        authorization: `Bearer ${made.key}`,
        ...(made.body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: made.body,
    }));
}

export const vapiShape: Shape = { refusal: jsonRefusal("message") };
