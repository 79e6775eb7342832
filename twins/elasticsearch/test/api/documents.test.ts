/** Documents one by one and in bulk, through the vendor's client. */
import { errors } from "@elastic/elasticsearch";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let specification: SearchSandbox;
let vendor: SearchSandbox;
beforeAll(async () => {
  specification = await startSearch();
  vendor = await startSearch({ fidelity: "vendor" });
});
afterAll(() => Promise.all([specification.stop(), vendor.stop()]));
beforeEach(async () => {
  for (const sandbox of [specification, vendor]) await sandbox.control("POST", "/reset");
});

describe("one document", () => {
  test("is created, replaced, read, updated and removed, with its version growing", async () => {
    const { client } = vendor;
    const place = { index: "logs", id: "a/b c" };
    expect(await client.index({ ...place, document: { level: "info" } })).toMatchObject({
      _id: "a/b c",
      _version: 1,
      result: "created",
      _seq_no: 0,
      _primary_term: 1,
    });
    expect(await client.index({ ...place, document: { level: "warn" }, refresh: true })).toMatchObject({
      _version: 2,
      result: "updated",
      forced_refresh: true,
    });
    expect(await client.get(place)).toMatchObject({ found: true, _version: 2, _source: { level: "warn" } });
    expect(await client.update({ ...place, doc: { more: { x: 1 } } })).toMatchObject({ result: "updated" });
    expect(await client.update({ ...place, doc: { more: { x: 1 } } })).toMatchObject({ result: "noop" });
    expect(await client.getSource(place)).toEqual({ level: "warn", more: { x: 1 } });
    expect(await client.delete(place)).toMatchObject({ result: "deleted", _version: 4 });
    expect(await client.exists(place)).toBe(false);
  });

  test("keeps its source as it was written", async () => {
    const text = '{ "big": 9007199254740993, "one": 1.0,  "b": 1, "2": 2 }';
    await vendor.raw("PUT", "/logs/_doc/1", text);
    expect((await vendor.raw("GET", "/logs/_source/1")).text).toBe(text);
    expect((await vendor.raw("POST", "/logs/_search")).text).toContain(`"_source":${text}`);
    const filtered = await vendor.raw("GET", "/logs/_source/1?_source=big,one");
    expect(filtered.text).toBe('{"big":9007199254740993,"one":1.0}');
  });

  test("is not created twice, in the vendor's words", async () => {
    await vendor.client.create({ index: "logs", id: "1", document: { a: 1 } });
    const again = vendor.client.create({ index: "logs", id: "1", document: { a: 2 } });
    await expect(again).rejects.toThrow(errors.ResponseError);
    await expect(again).rejects.toMatchObject({
      statusCode: 409,
      body: {
        error: {
          type: "version_conflict_engine_exception",
          reason: "[1]: version conflict, document already exists (current version [1])",
          shard: "0",
          index: "logs",
        },
        status: 409,
      },
    });
  });

  test("is written only under the sequence number that was asked for", async () => {
    const { client } = vendor;
    const { _seq_no } = await client.index({ index: "logs", id: "1", document: { a: 1 } });
    const write = (seqNo = -1) =>
      client.index({ index: "logs", id: "1", document: { a: 2 }, if_seq_no: seqNo, if_primary_term: 1 });
    await write(_seq_no);
    await expect(write(_seq_no)).rejects.toMatchObject({
      statusCode: 409,
      message: expect.stringContaining(
        "[1]: version conflict, required seqNo [0], primary term [1]. current document has seqNo [1] and primary term [1]",
      ),
    });
  });

  test("accepts external versions, and refuses older ones", async () => {
    const put = (version: number) =>
      vendor.client.index({ index: "logs", id: "1", document: {}, version, version_type: "external" });
    expect(await put(7)).toMatchObject({ _version: 7 });
    await expect(put(7)).rejects.toMatchObject({ statusCode: 409 });
    expect(await put(9)).toMatchObject({ _version: 9 });
  });

  test("that is missing is a 404 of its own kind for each route", async () => {
    await vendor.raw("PUT", "/logs/_doc/1", {});
    expect(await vendor.raw("GET", "/logs/_doc/x")).toMatchObject({
      status: 404,
      body: { _index: "logs", _id: "x", found: false },
    });
    expect(await vendor.raw("GET", "/logs/_source/x")).toMatchObject({
      status: 404,
      body: { error: { type: "resource_not_found_exception", reason: "Document not found [logs]/[x]" } },
    });
    expect(await vendor.raw("DELETE", "/logs/_doc/x")).toMatchObject({
      status: 404,
      body: { result: "not_found" },
    });
    expect(await vendor.raw("POST", "/logs/_update/x", { doc: {} })).toMatchObject({
      status: 404,
      body: { error: { type: "document_missing_exception", reason: "[x]: document missing" } },
    });
    expect(await vendor.raw("GET", "/other/_doc/x")).toMatchObject({
      status: 404,
      body: { error: { type: "index_not_found_exception" } },
    });
  });

  test("that does not fit its fields is refused, and nothing of it is stored", async () => {
    await vendor.raw("PUT", "/logs/_doc/1", { price: 5 });
    const answer = await vendor.raw("PUT", "/logs/_doc/2", { price: "cheap", other: true });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          type: "document_parsing_exception",
          reason: expect.stringMatching(
            /^\[1:\d+\] failed to parse field \[price\] of type \[long\] in document with id '2'\. Preview of field's value: 'cheap'$/,
          ),
          caused_by: { type: "illegal_argument_exception", reason: 'For input string: "cheap"' },
        },
      },
    });
    expect((await vendor.raw("GET", "/_field_caps?fields=other")).body.fields).toEqual({});
  });

  test("many are read at once", async () => {
    await vendor.raw("PUT", "/logs/_doc/1", { a: 1 });
    const { docs } = await vendor.client.mget({ index: "logs", ids: ["1", "2"] });
    expect(docs).toMatchObject([
      { _id: "1", found: true, _source: { a: 1 } },
      { _id: "2", found: false },
    ]);
  });
});

describe("bulk", () => {
  const lines = (...items: (object | string)[]) =>
    items.map((item) => `${typeof item === "string" ? item : JSON.stringify(item)}\n`).join("");
  const bulk = (sandbox: SearchSandbox, body: string, path = "/_bulk") =>
    sandbox.raw("POST", path, body, { "content-type": "application/x-ndjson" });

  test("in specification fidelity update and delete are acknowledged without effect", async () => {
    await specification.raw("PUT", "/logs/_doc/1", { a: 1 });
    const body = lines(
      { update: { _index: "logs", _id: "1" } },
      { doc: { a: 2 } },
      { delete: { _index: "logs", _id: "1" } },
    );
    expect((await bulk(specification, body)).body).toMatchObject({
      errors: false,
      items: [{ update: { result: "updated", status: 200 } }, { delete: { result: "deleted", status: 200 } }],
    });
    expect((await specification.raw("GET", "/logs/_doc/1")).body).toMatchObject({
      _version: 1,
      _source: { a: 1 },
    });
  });

  test("in vendor fidelity they are real, and the same id may come again and again", async () => {
    const body = lines(
      { index: { _id: "1" } },
      { a: 1 },
      { update: { _id: "1" } },
      { doc: { b: 2 } },
      { delete: { _id: "1" } },
      { create: { _id: "1" } },
      { c: 3 },
      { update: { _id: "2" } },
      { doc: { d: 4 }, doc_as_upsert: true },
      { delete: { _id: "none" } },
    );
    const answer = (await bulk(vendor, body, "/logs/_bulk")).body;
    expect(answer.errors).toBe(false);
    expect(answer.items.map((item: object) => Object.values(item)[0])).toMatchObject([
      { result: "created", _version: 1, status: 201 },
      { result: "updated", _version: 2, status: 200 },
      { result: "deleted", _version: 3, status: 200 },
      { result: "created", status: 201 },
      { _id: "2", result: "created", status: 201 },
      { result: "not_found", status: 404 },
    ]);
    expect((await vendor.raw("GET", "/logs/_source/1")).body).toEqual({ c: 3 });
  });

  test("one bad action fails alone", async () => {
    await vendor.raw("PUT", "/logs/_doc/1", { price: 5 });
    const body = lines(
      { create: { _id: "1" } },
      { price: 6 },
      { index: { _id: "2" } },
      { price: "cheap" },
      { index: { _id: "3" } },
      { price: 7 },
      { index: { _id: "4", _index: "UPPER" } },
      {},
      { index: { _id: "5" } },
      "[1]",
    );
    const answer = (await bulk(vendor, body, "/logs/_bulk")).body;
    expect(answer.errors).toBe(true);
    expect(answer.items.map((item: object) => Object.values(item)[0])).toMatchObject([
      { _id: "1", status: 409, error: { type: "version_conflict_engine_exception" } },
      { _id: "2", status: 400, error: { type: "document_parsing_exception" } },
      { _id: "3", status: 201, result: "created" },
      {
        _id: "4",
        status: 400,
        error: {
          type: "invalid_index_name_exception",
          reason: "Invalid index name [UPPER], must be lowercase",
        },
      },
      { _id: "5", status: 400, error: { type: "document_parsing_exception" } },
    ]);
    expect((await vendor.raw("POST", "/logs/_count")).body.count).toBe(2);
  });

  test.each([
    [
      '{"del":{}}\n',
      "Malformed action/metadata line [1], expected field [create], [delete], [index] or [update] but found [del]",
    ],
    [
      '{"index":{"_index":"logs"}}\n{}\n{"index":5}\n',
      "Malformed action/metadata line [3], expected START_OBJECT but found [VALUE_NUMBER]",
    ],
    [
      '{"index":{"_index":"logs","foo":1}}\n{}\n',
      "Action/metadata line [1] contains an unknown parameter [foo]",
    ],
    ['{"index":{"_index":"logs"}}\n{}', "The bulk request must be terminated by a newline [\\n]"],
  ])("%j is refused as a whole", async (body, reason) => {
    const answer = await bulk(vendor, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { type: "illegal_argument_exception", reason } },
    });
  });

  test("an action without an index is refused as a whole", async () => {
    expect((await bulk(vendor, '{"index":{}}\n{}\n')).body.error).toMatchObject({
      type: "action_request_validation_exception",
      reason: "Validation Failed: 1: index is missing;",
    });
  });

  test("the client's bulk helper takes thousands of documents, gzipped", async () => {
    const datasource = Array.from({ length: 3000 }, (_, number) => ({ number, message: `line ${number}` }));
    const result = await vendor.client.helpers.bulk({
      datasource,
      onDocument: () => ({ index: { _index: "logs" } }),
      flushBytes: 20_000,
    });
    expect(result).toMatchObject({ total: 3000, successful: 3000, failed: 0 });
    expect(await vendor.client.count({ index: "logs" })).toMatchObject({ count: 3000 });
  });
});
