/** A model server that fails is a failure in words. Proves a part of twins/SECURITY.md. */
import { OPENAI_KEY, type OpenAiServer, startOpenAiServer } from "@offhook/platform/testing/openai-server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import { translatorConfig, translatorOf } from "../../translator/config.ts";

let store: LogStore;
let server: OpenAiServer;
beforeAll(async () => {
  store = await openLogStore();
  await store.write([{ index: "logs", source: '{"level":"error"}' }]);
});
afterAll(() => store.close());
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.stop());

function translate(timeoutSeconds = 60) {
  const config = z.strictObject(translatorConfig).parse({
    model: {
      base_url: server.endpoint.baseUrl,
      api_key_env: "TRANSLATOR_KEY",
      name: "small-model",
      timeout_seconds: timeoutSeconds,
    },
  });
  const translator = translatorOf(config.model, (name) =>
    name === "TRANSLATOR_KEY" ? OPENAI_KEY : undefined,
  );
  if (!translator) throw new Error("a model is configured");
  const signal = new AbortController().signal;
  const question = { language: "esql" as const, text: "FROM logs | MAGIC", store, nowMs: 0, signal };
  return translator.translate(question, (statement) => store.query(statement));
}

const answer = (content: unknown) =>
  JSON.stringify({ choices: [{ message: { role: "assistant", content } }] });

test("a chat completion of an OpenAI-compatible server is the SQL that runs", async () => {
  server.answer = (response) => void response.end(answer("SELECT level FROM documents"));
  const { statement, notes } = await translate();
  expect((await store.query(statement)).rows).toEqual([["error"]]);
  expect(notes.model).toBe("small-model");
  const [request] = server.requests;
  expect(request?.path).toBe("/v1/chat/completions");
  expect(request?.headers.authorization).toBe(`Bearer ${OPENAI_KEY}`);
  expect(JSON.parse(String(request?.body))).toMatchObject({ model: "small-model", temperature: 0 });
});

const failures: [string, (server: OpenAiServer) => void, string, timeoutSeconds?: number][] = [
  [
    "a status",
    (of) => (of.answer = (response) => void response.writeHead(401).end(OPENAI_KEY)),
    "answered 401",
  ],
  ["no JSON", (of) => (of.answer = (response) => void response.end("<html>")), "not JSON"],
  ["no completion", (of) => (of.answer = (response) => void response.end("{}")), "not a chat completion"],
  [
    "a redirect",
    (of) => (of.answer = (response) => void response.writeHead(302, { location: "/" }).end()),
    "answered 302",
  ],
  ["a refusal", (of) => (of.answer = (response) => void response.end(answer(null))), "not a chat completion"],
  [
    "endless text",
    (of) => (of.answer = (response) => void response.end("x".repeat(2_000_000))),
    "larger than",
  ],
  ["silence", (of) => (of.answer = () => undefined), "within 200 ms", 0.2],
  ["a closed socket", (of) => (of.answer = (response) => void response.destroy()), "ECONNRESET"],
];
test.each(failures)(
  "%s is a failure in words, and the key is in none",
  async (_, prepare, words, timeoutSeconds) => {
    prepare(server);
    const failure = await translate(timeoutSeconds).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toMatch(new RegExp(`${words}|UND_ERR_SOCKET`));
    expect(String(failure)).not.toContain(OPENAI_KEY);
  },
);
