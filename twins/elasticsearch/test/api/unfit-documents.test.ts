/** Documents whose values do not fit existing fields. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/logs/_doc/1", { ok: true, at: "2026-01-31T09:00:00Z", n: 5 });
});
afterAll(() => sandbox.stop());

const dateFormat = "strict_date_optional_time||epoch_millis";
const cases = [
  ["ok", "boolean", "maybe", "Failed to parse value [maybe] as only [true] or [false] are allowed."],
  ["at", "date", "soon", `failed to parse date field [soon] with format [${dateFormat}]`],
  ["n", "long", "cheap", 'For input string: "cheap"'],
] as const;

const errorOf = (field: string, type: string, id: string, value: string, reason: string) => ({
  type: "document_parsing_exception",
  reason: expect.stringMatching(
    new RegExp(
      `^\\[1:\\d+\\] failed to parse field \\[${field}\\] of type \\[${type}\\] in document with id '${id}'\\. Preview of field's value: '${value}'$`,
    ),
  ),
  caused_by: { type: "illegal_argument_exception", reason },
});

describe("one document", () => {
  test.each(cases)("field %s of type %s does not take %j", async (field, type, value, reason) => {
    const answer = await sandbox.raw("PUT", "/logs/_doc/2", { [field]: value, other: "new" });
    const error = errorOf(field, type, "2", value, reason);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { ...error, root_cause: [{ type: error.type }] } },
    });
    expect((await sandbox.raw("GET", "/logs/_doc/2")).status).toBe(404);
    expect((await sandbox.raw("GET", "/_field_caps?fields=other")).body.fields).toEqual({});
  });
});

test("in a bulk request the good ones are stored, the bad ones refused, and each answer is in its place", async () => {
  const { client } = sandbox;
  const { errors, items } = await client.bulk({
    index: "logs",
    operations: [
      ...cases.flatMap(([field, , value], number) => [
        { index: { _id: `good-${number}` } },
        { n: number },
        { index: { _id: `bad-${number}` } },
        { [field]: value },
      ]),
      { create: { _id: "1" } },
      {},
      { index: { _id: "last" } },
      { n: 9 },
    ],
  });
  expect(errors).toBe(true);
  const refused = ([field, type, value, reason]: (typeof cases)[number], number: number) => ({
    index: { _id: `bad-${number}`, status: 400, error: errorOf(field, type, `bad-${number}`, value, reason) },
  });
  expect(items).toMatchObject([
    ...cases.flatMap((one, number) => [
      { index: { _id: `good-${number}`, status: 201, result: "created" } },
      refused(one, number),
    ]),
    { create: { _id: "1", status: 409, error: { type: "version_conflict_engine_exception" } } },
    { index: { _id: "last", status: 201 } },
  ]);
  const { hits } = await client.search({ index: "logs", sort: ["_doc"], _source: false });
  expect(hits.hits.map(({ _id }) => _id)).toEqual(["1", "good-0", "good-1", "good-2", "last"]);
  const numbers = items.flatMap((item) => item.index?._seq_no ?? []);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});

test("an object given to a field of text is shown as the vendor shows it", async () => {
  await sandbox.raw("PUT", "/logs/_doc/text", { user: "ada" });
  const refused = await sandbox.raw("PUT", "/logs/_doc/object", {
    user: { name: "ada", of: [1, "two", null] },
  });
  expect(refused).toMatchObject({ status: 400, body: { error: { type: "document_parsing_exception" } } });
  expect(refused.body.error.reason).toContain(
    "failed to parse field [user] of type [text] in document with id 'object'. Preview of field's value: '{name=ada, of=[1, two, null]}'",
  );
});
