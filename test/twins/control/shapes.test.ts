/** What somebody who has the specification alone would try: it is taken, or refused with the shape that is right. */

import { request } from "@offhook/platform/testing/http";
import { startWebhookServer } from "@offhook/platform/testing/webhook-server";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type EveryTwin, startEveryTwin, type TwinUnderTest, twinNames } from "../../support/every-twin.ts";

let every: EveryTwin;
const starts = new Map<string, unknown>();
beforeAll(async () => {
  every = await startEveryTwin();
  for (const name of twinNames)
    starts.set(name, (await every.of(name).control("POST", "/snapshot")).body.tables);
});
afterAll(() => every.stop());

const tablesOf = async (twin: TwinUnderTest) => (await twin.control("POST", "/snapshot")).body.tables;

/** Sends a form, its boundary made by `fetch`. */
async function sendForm(twin: TwinUnderTest, form: FormData, query = "") {
  const made = new Response(form);
  return request("POST", `${twin.controlUrl}/sim/files${query}`, {
    headers: { "x-api-key": twin.twins.apiKey, "content-type": made.headers.get("content-type") ?? "" },
    body: Buffer.from(await made.arrayBuffer()),
  });
}

describe.each(twinNames)("%s", (name) => {
  let twin: TwinUnderTest;
  beforeEach(async () => {
    twin = every.of(name);
    expect((await twin.control("POST", "/reset", { data: starts.get(name) })).status).toBe(200);
  });

  test("a file without a name gets one, and is found by it", async () => {
    const headers = { "x-api-key": twin.twins.apiKey, "content-type": "text/plain" };
    const names: string[] = [];
    for (const body of ["one", "two"]) {
      const { body: added } = await request("POST", `${twin.controlUrl}/sim/files`, { headers, body });
      expect(added).toMatchObject({ size: 3, type: "text/plain" });
      expect((await twin.control("GET", `/files/${added.name}`)).text).toBe(body);
      names.push(added.name);
    }
    expect(new Set(names).size).toBe(2);
  });

  test("a form's files are kept under their own names, all of them or none", async () => {
    const form = new FormData();
    form.append("file", new Blob(["hello"], { type: "text/plain" }), "notes.txt");
    expect(await sendForm(twin, form)).toMatchObject({
      status: 201,
      body: { name: "notes.txt", type: "text/plain", size: 5 },
    });
    const two = new FormData();
    two.append("a", new Blob(["1"]), "other.txt");
    two.append("b", new Blob(["2"]), "notes.txt");
    expect((await sendForm(twin, two)).status).toBe(409);
    expect((await twin.control("GET", "/files")).body.total).toBe(1);
    two.set("b", new Blob(["2"]), "second.txt");
    expect((await sendForm(twin, two)).body.files).toMatchObject([
      { name: "other.txt" },
      { name: "second.txt" },
    ]);
    const named = new FormData();
    named.append("name", "called so");
    named.append("file", new Blob(["3"]), "x");
    expect((await sendForm(twin, named)).body.name).toBe("called so");
    expect((await sendForm(twin, new FormData(), "?name=none")).body.error.message).toMatch(
      /no file was kept; send/,
    );
  });

  test("PATCH takes rows named by their keys, all of them or none", async () => {
    const { table, key, rows, change, badChange } = twin.sample;
    expect((await twin.control("POST", "/data", { data: { [table]: rows } })).status).toBe(201);
    const named = rows.map((row) => ({ [key]: row[key], ...change }));
    const answer = await twin.control("PATCH", "/data", { data: { [table]: named } });
    expect([answer.status, answer.body.updated]).toEqual([200, { [table]: 2 }]);
    const page = (await twin.control("GET", `/data?entity_type=${table}&limit=1000`)).body.rows;
    for (const row of named) expect(page).toContainEqual(expect.objectContaining(row));
    const before = await tablesOf(twin);
    const refused = await twin.control("PATCH", "/data", {
      data: {
        [table]: [
          { ...rows[0] },
          { [key]: rows[1][key], ...badChange },
          { [key]: "nobody", ...change },
          change,
        ],
        no_such_table: [{}],
      },
    });
    expect(refused.status).toBe(422);
    expect(refused.body.error.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ table, row: 3, column: key }),
        expect.objectContaining({ table: "no_such_table" }),
      ]),
    );
    const missing = await twin.control("PATCH", "/data", {
      data: {
        [table]: [named[0], { [key]: rows[1][key], ...badChange }, { [key]: "nobody", ...change }, named[0]],
      },
    });
    expect(missing.status).toBe(422);
    expect(missing.body.error.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ table, row: 1, column: Object.keys(badChange)[0] }),
        expect.objectContaining({ table, row: 2, column: key, value: "nobody" }),
        expect.objectContaining({ table, row: 3, column: key }),
      ]),
    );
    expect(await tablesOf(twin)).toEqual(before);
  });

  test("DELETE takes the filters of a read, and never a whole table by mistake", async () => {
    const { table, key, rows } = twin.sample;
    await twin.control("POST", "/data", { data: { [table]: rows } });
    const filter = new URLSearchParams({ entity_type: table, [key]: String(rows[1][key]) });
    expect((await twin.control("DELETE", `/data?${filter}`)).body).toMatchObject({ removed: 1 });
    expect((await twin.control("GET", `/data?${filter}`)).body.total).toBe(0);
    expect((await twin.control("DELETE", `/data?${filter}`)).status).toBe(404);
    for (const query of [`entity_type=${table}`, `entity_type=${table}&shoe=1`, `${key}=x`]) {
      expect((await twin.control("DELETE", `/data?${query}`)).status).toBe(422);
    }
    expect((await twin.control("DELETE", `/data?${filter}`, { entity_type: table, key: "x" })).status).toBe(
      422,
    );
  });

  test("a reset takes a whole snapshot, as data or as the body itself, and refuses what is neither", async () => {
    const { table, rows } = twin.sample;
    await twin.control("POST", "/data", { data: { [table]: rows } });
    const taken = (await twin.control("POST", "/snapshot", { content_hash: true })).body;
    const { content_hash: _hash, ...bare } = taken;
    for (const body of [{ data: taken }, { data: bare }, taken, bare, { data: taken.tables }]) {
      expect((await twin.control("POST", "/reset")).status).toBe(200);
      expect((await twin.control("POST", "/reset", body)).status).toBe(200);
      expect(await tablesOf(twin)).toEqual(taken.tables);
    }
    for (const [body, field] of [
      [{ data: { ...taken, shoe: 1 } }, "data.shoe"],
      [{ data: { state_version: 1 } }, "data.state_version"],
      [{ ...taken, profile: "default" }, ""],
      [{ ...taken, data: {} }, "data"],
      [{ state_version: 1 }, "state_version"],
      [{ data: { [table]: {} } }, `data.${table}`],
      [{ data: { [table]: [{}, 5] } }, `data.${table}.1`],
      [{ data: { tables: { [table]: null } } }, `data.tables.${table}`],
      [{ data: [] }, "data"],
      [{ profile: 5 }, "profile"],
      [[], ""],
    ] as const) {
      const refused = await twin.control("POST", "/reset", body);
      expect([refused.status, refused.body.error.problems?.[0]?.field]).toEqual([422, field]);
      expect(refused.body.error.message).toContain('{"profile": "default"}');
    }
    for (const body of [
      '{"data": {"x": [{"a": nope}]}}',
      '{"data": {',
      "nope",
      '{"profile": "default"} x',
      "[1,]",
    ]) {
      const malformed = await twin.control("POST", "/reset", body);
      expect([malformed.status, malformed.body.error.code]).toEqual([400, "malformed_json"]);
    }
    expect(await tablesOf(twin)).toEqual(taken.tables);
  });

  test("what is refused shows a body that would be taken", async () => {
    for (const [method, path, shown] of [
      ["POST", "/data", '{"data": {"TABLE"'],
      ["PATCH", "/data", '{"entity_type": "TABLE", "key"'],
      ["DELETE", "/data", "?entity_type=TABLE"],
      ["PUT", "/client", '{"url":'],
      ["PUT", "/clock", '{"now":'],
    ] as const) {
      const answer = await twin.control(method, path, { nonsense: 1 });
      expect([answer.status, answer.body.error.code]).toEqual([422, "invalid"]);
      expect(answer.body.error.message).toContain(shown);
    }
  });

  test("a number in a query is digits: other spellings of one are refused, whatever they are", async () => {
    const digits = /^[0-9]+$/;
    const spelled = fc.oneof(
      fc.constantFrom(
        "1e2",
        "0x10",
        " 5",
        "5 ",
        "+5",
        "-1",
        "1.0",
        "",
        "0b1",
        "1_0",
        "٥",
        "Infinity",
        "9".repeat(20),
      ),
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 6 }).filter((text) => !digits.test(text)),
    );
    const reads = ["/requests", "/files", `/data?entity_type=${twin.sample.table}`, "/data"];
    await fc.assert(
      fc.asyncProperty(
        spelled,
        fc.constantFrom("limit", "offset"),
        fc.constantFrom(...reads),
        async (text, parameter, path) => {
          const url = `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ [parameter]: text })}`;
          const answer = await twin.control("GET", url);
          expect([url, answer.status]).toEqual([url, 422]);
          expect(answer.body.error.problems).toMatchObject([{ field: parameter }]);
        },
      ),
      { numRuns: 40 },
    );
    for (const since of ["1e2", "0x10", " 5"]) {
      expect((await twin.control("GET", `/requests?${new URLSearchParams({ since })}`)).status).toBe(422);
    }
    expect((await twin.control("GET", "/data?limit=007")).body.counts).toBeDefined();
  });

  test("the newest requests come first when they are to", async () => {
    const seqs = async (query: string) =>
      (await twin.control("GET", `/requests?${query}`)).body.requests.map(({ seq }: { seq: number }) => seq);
    const oldest = await seqs("limit=1000");
    const [first, second] = await seqs("order=newest&limit=2");
    expect(first).toBeGreaterThan(oldest.at(-1));
    expect(second).toBeLessThan(first);
    expect((await twin.control("GET", "/requests?order=random")).status).toBe(422);
  });

  test("a probe says whether the destination is reachable, also when there is none", async () => {
    await twin.control("DELETE", "/client");
    const none = await twin.control("POST", "/client/probe");
    expect([none.status, none.body]).toEqual([
      200,
      expect.objectContaining({ url: null, reachable: false, outcome: "not_registered" }),
    ]);
    const hook = await startWebhookServer();
    hook.answer = () => ({ status: 500 });
    expect((await twin.control("POST", "/client", { url: hook.url })).body.url).toContain(hook.url);
    expect((await twin.control("POST", "/client/probe")).body).toMatchObject({
      reachable: true,
      status: 500,
    });
    await hook.stop();
    expect((await twin.control("POST", "/client/probe")).body).toMatchObject({
      reachable: false,
      outcome: "refused",
    });
  });
});
