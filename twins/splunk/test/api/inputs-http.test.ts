/**
 * Tokens of the event collector as the management API has them: `data/inputs/http`.
 * Proves a part of twins/SECURITY.md.
 */

import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
});

const INPUTS = "/servicesNS/nobody/splunk_httpinput/data/inputs/http";
const ask = (method: string, path: string, parameters: Parameters = {}) =>
  splunk.ask(method, path, { output_mode: "json", ...parameters });
const contentOf = (answer: { body: { entry: { content: Record<string, unknown> }[] } }) =>
  answer.body.entry[0]?.content ?? {};
const send = async (token: unknown, more: Record<string, string> = {}) => {
  const headers = { authorization: `Splunk ${token}`, ...more };
  const url = `${splunk.url}/services/collector`;
  return (await request("POST", url, { headers, body: '{"event":"hello"}' })).body;
};

test("there is the token that a fresh twin has; its value is shown to who manages it, and nowhere else", async () => {
  const listed = await ask("GET", INPUTS);
  expect(listed.body.entry.map(({ name }: { name: string }) => name)).toEqual(["http://splunk_hec_token"]);
  const token = "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70";
  expect(contentOf(listed)).toMatchObject({
    token,
    index: "main",
    indexes: [],
    disabled: false,
    useACK: false,
  });
  const { text } = await splunk.ask("GET", INPUTS);
  expect(text).toContain(`<s:key name="token">${token}</s:key>`);
  const journal = (await splunk.control("GET", "/requests?operation=collector_token.list")).text;
  expect(journal).toContain("***");
  expect(journal).not.toContain(token);
});

test("a token is made, used, changed, switched off and on, given another value, and removed", async () => {
  const made = await ask("POST", INPUTS, {
    name: "shop",
    index: "main",
    indexes: "main,summary",
    sourcetype: "s",
  });
  expect(made.status).toBe(201);
  expect(made.body.entry[0].name).toBe("http://shop");
  const { token } = contentOf(made);
  expect(contentOf(made)).toMatchObject({ indexes: ["main", "summary"], sourcetype: "s" });
  expect(token).toMatch(/^[0-9a-f-]{36}$/);
  expect(await send(token)).toEqual({ text: "Success", code: 0 });
  // Its name is understood with and without what stands before it.
  for (const name of ["shop", "http%3A%2F%2Fshop", "http%3A%252F%252Fshop"]) {
    expect(contentOf(await ask("GET", `${INPUTS}/${name}`)).token).toBe(token);
  }
  const changed = await ask("POST", `${INPUTS}/shop`, { useACK: 1, description: "of the shop" });
  expect(contentOf(changed)).toMatchObject({ useACK: true, description: "of the shop", sourcetype: "s" });
  expect((await send(token)).code).toBe(10);
  expect(contentOf(await ask("POST", `${INPUTS}/shop/disable`)).disabled).toBe(true);
  expect((await send(token)).code).toBe(1);
  await ask("POST", `${INPUTS}/shop/enable`);
  const rotated = contentOf(await ask("POST", `${INPUTS}/shop/rotate`)).token;
  expect(rotated).not.toBe(token);
  expect((await send(token)).code).toBe(4);
  const channel = { "x-splunk-request-channel": "FE0ECFAD-13D5-401B-847D-77833BD77131" };
  expect(await send(rotated, channel)).toEqual({ text: "Success", code: 0, ackId: 0 });
  expect((await ask("DELETE", `${INPUTS}/shop`)).status).toBe(200);
  expect((await send(rotated)).code).toBe(4);
  expect((await ask("GET", `${INPUTS}/shop`)).status).toBe(404);
});

test("a token is a row with its digest: no snapshot has it, and loading one into the running twin loses nothing", async () => {
  const value = "5d3a41bb-0000-4000-8000-0123456789ab";
  await ask("POST", INPUTS, { name: "own", token: value });
  const { body, text } = await splunk.control("POST", "/snapshot");
  expect(text).not.toContain(value);
  await splunk.control("POST", "/reset", {});
  expect((await send(value)).code).toBe(4);
  await splunk.control("POST", "/reset", { data: body.tables });
  expect((await send(value)).code).toBe(0);
  expect(contentOf(await ask("GET", `${INPUTS}/own`)).token).toBe(value);
  const row = { name: "beside", token_sha256: "0".repeat(64) };
  await splunk.control("POST", "/data", { data: { hec_tokens: [row] } });
  expect(contentOf(await ask("GET", `${INPUTS}/beside`)).token).toBe("********");
});

test("what is wrong with a token is refused", async () => {
  const text = (answer: { body: { messages: { text: string }[] } }) => answer.body.messages[0]?.text;
  expect(text(await ask("POST", INPUTS, { name: "a", colour: 1 }))).toBe(
    'Argument "colour" is not supported by this handler.',
  );
  // Who only looks at them is asked for no name of an argument.
  expect((await ask("GET", INPUTS, { colour: 1 })).status).toBe(200);
  expect((await ask("POST", INPUTS, { name: "splunk_hec_token" })).status).toBe(409);
  const taken = { name: "a", token: "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70" };
  expect(text(await ask("POST", INPUTS, taken))).toBe("The token is another input's.");
  expect((await ask("POST", INPUTS, { name: "a", index: "Not One" })).status).toBe(400);
});

test("the settings of the collector are those it goes by", async () => {
  expect(contentOf(await ask("GET", `${INPUTS}/http`))).toMatchObject({
    port: "8088",
    disabled: false,
    backpressureState: "disabled",
  });
  const health = async () => (await request("GET", `${splunk.url}/services/collector/health`)).body.code;
  await ask("POST", `${INPUTS}/http/disable`);
  expect(await health()).toBe(404);
  await ask("POST", `${INPUTS}/http/enable`);
  expect(await health()).toBe(17);
  await ask("POST", `${INPUTS}/http`, { queueSize: "0" });
  expect(await health()).toBe(18);
});
