/** The vendor's own client, unchanged, product check on. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch();
});
afterAll(() => sandbox.stop());

test("the client takes the twin for its product", async () => {
  const info = await sandbox.client.info();
  expect(info).toMatchObject({ version: { number: "8.15.0" }, tagline: "You Know, for Search" });
  expect(await sandbox.client.ping()).toBe(true);
});

test("what was written in bulk is found", async () => {
  const { client } = sandbox;
  const answer = await client.bulk({
    operations: [
      { index: { _index: "logs", _id: "1" } },
      { message: "disk is full", bytes: 9007199254740993n.toString(), level: "error" },
      { create: { _index: "logs" } },
      { message: "all is well", level: "info" },
    ],
  });
  expect(answer).toMatchObject({
    errors: false,
    items: [
      { index: { _index: "logs", _id: "1", _version: 1, result: "created", status: 201 } },
      { create: { _index: "logs", _id: expect.stringMatching(/^[\w-]{20}$/), status: 201 } },
    ],
  });
  const found = await client.search({ query: { match_all: {} } });
  expect(found.hits.total).toEqual({ value: 2, relation: "eq" });
  expect(found.hits.hits[0]).toMatchObject({ _index: "logs", _id: "1", _score: 1 });
});
