/** In `vendor` fidelity an alias stands for its indices, in reads and writes. Measured on a server of 8.15.0. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());

async function ask(method: string, path: string, body?: unknown) {
  const { status, text } = await sandbox.raw(method, path, body);
  return { status, body: text === "" ? undefined : JSON.parse(text) };
}

beforeEach(async () => {
  await sandbox.control("POST", "/reset");
  await ask("PUT", "/first", { aliases: { both: {}, only: { routing: "1" } } });
  await ask("PUT", "/second", { aliases: { both: { is_write_index: true } } });
  await ask("PUT", "/first/_doc/1", { n: 1 });
  await ask("PUT", "/second/_doc/2", { n: 2 });
});

async function found(path: string): Promise<string[]> {
  const { body } = await ask("POST", `/${path}/_search`, { sort: ["n"] });
  return body.hits.hits.map(({ _index, _id }: { _index: string; _id: string }) => `${_index}/${_id}`);
}

test("a search of an alias is one of its indices", async () => {
  expect(await found("both")).toEqual(["first/1", "second/2"]);
  expect(await found("only")).toEqual(["first/1"]);
  expect(await found("bo*")).toEqual(["first/1", "second/2"]);
  expect(await found("only,second")).toEqual(["first/1", "second/2"]);
  expect((await ask("POST", "/only/_count")).body.count).toBe(1);
  expect(Object.keys((await ask("GET", "/both/_mapping")).body)).toEqual(["first", "second"]);
  expect((await ask("GET", "/only")).body.first.aliases).toEqual({
    both: {},
    only: { index_routing: "1", search_routing: "1" },
  });
  const esql = await sandbox.client.esql.query({ query: "FROM both | SORT n | KEEP n" });
  expect(esql).toMatchObject({ values: [[1], [2]] });
});

test("documents are written to the write index, and read of the only one", async () => {
  expect((await ask("PUT", "/both/_doc/3", { n: 3 })).body._index).toBe("second");
  expect((await ask("PUT", "/only/_doc/4?require_alias=true", { n: 4 })).body._index).toBe("first");
  expect((await ask("POST", "/only/_update/4", { doc: { n: 5 } })).body).toMatchObject({
    _index: "first",
    result: "updated",
  });
  expect((await ask("GET", "/only/_doc/4")).body).toMatchObject({ _index: "first", _source: { n: 5 } });
  expect((await ask("POST", "/only/_mget", { ids: ["4"] })).body.docs).toMatchObject([
    { _index: "first", found: true },
  ]);
  expect((await ask("DELETE", "/only/_doc/4")).body).toMatchObject({ _index: "first", result: "deleted" });
  const lines = [{ index: { _index: "both", _id: "6", require_alias: true } }, { n: 6 }];
  const bulk = await ask("POST", "/_bulk", lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(bulk.body.items[0].index).toMatchObject({ _index: "second", status: 201 });
  expect(await ask("GET", "/both/_doc/1")).toMatchObject({
    status: 400,
    body: {
      error: {
        reason:
          "alias [both] has more than one index associated with it [first, second], can't execute a single index op",
      },
    },
  });
});

test("aliases are moved from one index to another, all of a request or nothing", async () => {
  const moved = {
    actions: [{ remove: { index: "first", alias: "only" } }, { add: { index: "second", alias: "only" } }],
  };
  expect(await ask("POST", "/_aliases", moved)).toEqual({
    status: 200,
    body: { acknowledged: true, errors: false },
  });
  expect((await ask("GET", "/_alias/only")).body).toEqual({ second: { aliases: { only: {} } } });
  expect((await ask("POST", "/_aliases", moved)).body.error).toMatchObject({
    type: "aliases_not_found_exception",
    reason: "aliases [only] missing",
  });
  const removal = {
    actions: [{ remove_index: { index: "first" } }, { add: { index: "second", alias: "first" } }],
  };
  expect((await ask("POST", "/_aliases", removal)).status).toBe(200);
  expect(await found("first")).toEqual(["second/2"]);
  expect((await ask("DELETE", "/second/_alias/first")).status).toBe(200);
  expect((await sandbox.raw("HEAD", "/first")).status).toBe(404);
});

test("the dataset's indices have aliases, until a reset", async () => {
  await ask("PUT", "/logs/_doc/1", { n: 9 });
  expect((await ask("PUT", "/logs/_alias/events", {})).status).toBe(200);
  expect(await found("events")).toEqual(["logs/1"]);
  expect((await ask("PUT", "/events/_doc/2", { n: 10 })).body._index).toBe("logs");
  await sandbox.control("POST", "/reset");
  expect((await ask("GET", "/_alias/events")).status).toBe(404);
});

test("a snapshot has the aliases of indices that were made", async () => {
  const snapshot = (await sandbox.control("POST", "/snapshot", {})).body.tables;
  await sandbox.control("POST", "/reset");
  expect((await ask("GET", "/_alias/both")).status).toBe(404);
  expect((await sandbox.control("POST", "/reset", { data: snapshot })).status).toBe(200);
  expect(await found("both")).toEqual(["first/1", "second/2"]);
});

describe("are listed:", () => {
  test("by name, missing ones with a 404 beside those that are there", async () => {
    expect(await ask("GET", "/_alias/only,nope")).toEqual({
      status: 404,
      body: {
        error: "alias [nope] missing",
        status: 404,
        first: { aliases: { only: { index_routing: "1", search_routing: "1" } } },
      },
    });
    expect((await ask("GET", "/second/_alias")).body).toEqual({
      second: { aliases: { both: { is_write_index: true } } },
    });
    expect([await ask("HEAD", "/_alias/only"), await ask("HEAD", "/_alias/nope")]).toMatchObject([
      { status: 200 },
      { status: 404 },
    ]);
  });

  test("in tables and beside indices", async () => {
    const { text } = await sandbox.raw("GET", "/_cat/aliases/bo*?h=alias,index,is_write_index");
    expect(text).toBe("both first  -\nboth second true\n");
    expect((await ask("GET", "/_resolve/index/on*,first")).body).toMatchObject({
      indices: [{ name: "first", aliases: ["both", "only"] }],
      aliases: [{ name: "only", indices: ["first"] }],
    });
  });
});

describe("are refused:", () => {
  test.each([
    ["an index of an alias's name", "PUT", "/only", {}, "Invalid index name [only], already exists as alias"],
    [
      "an alias of an index's name",
      "PUT",
      "/third",
      { aliases: { first: {} } },
      "Invalid alias name [first]: an index or data stream exists with the same name as the alias",
    ],
    [
      "the removal of an alias as an index",
      "DELETE",
      "/only",
      undefined,
      "The provided expression [only] matches an alias, specify the corresponding concrete indices instead.",
    ],
    ["no actions", "POST", "/_aliases", { actions: [] }, "No action specified"],
    [
      "an index that is not there",
      "POST",
      "/_aliases",
      { actions: [{ add: { index: "nope", alias: "more" } }] },
      "no such index [nope]",
    ],
    [
      "a filter, which has no effect here",
      "PUT",
      "/third",
      { aliases: { few: { filter: { term: { n: 1 } } } } },
      "[filter] of alias [few] is not supported here: this stand-in has aliases without a filter",
    ],
  ])("%s", async (_, method, path, body, reason) => {
    const answer = await ask(method, path, body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body.error.reason).toBe(reason);
  });

  test("a write to several indices of which none is the write index", async () => {
    await ask("PUT", "/first/_alias/none", {});
    await ask("PUT", "/second/_alias/none", {});
    expect((await ask("PUT", "/none/_doc/1", {})).body.error.reason).toBe(
      "no write index is defined for alias [none]. The write index may be explicitly disabled using is_write_index=false or the alias points to multiple indices without one being designated as a write index",
    );
  });
});
