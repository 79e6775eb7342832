/** Read-modify-write operations are atomic. */

import type { Answer } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());
beforeEach(async () => {
  await sandbox.control("POST", "/reset");
  await sandbox.raw("PUT", "/logs/_doc/1", { start: true });
});

const AT_ONCE = 20;
const many = (make: (number: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, number) => make(number)));
const update = (number: number, parameters = "") =>
  sandbox.raw("POST", `/logs/_update/1${parameters}`, { doc: { [`field${number}`]: number } });
const stored = async () => (await sandbox.raw("GET", "/logs/_doc/1")).body;

test.each(["", "?retry_on_conflict=3"])("updates at once are all merged%s", async (parameters) => {
  const answers = await many((number) => update(number, parameters));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const versions = answers.map(({ body }) => body._version).sort((a, b) => a - b);
  expect(versions).toEqual(answers.map((_, number) => number + 2));
  const { _version, _source } = await stored();
  expect(_version).toBe(1 + AT_ONCE);
  expect(Object.keys(_source)).toHaveLength(1 + AT_ONCE);
});

test("of updates under one sequence number one succeeds, and the others are conflicts", async () => {
  const { _seq_no } = await stored();
  const answers = await many((number) => update(number, `?if_seq_no=${_seq_no}&if_primary_term=1`));
  const conflicts = answers.filter(({ status }) => status === 409);
  expect(conflicts).toHaveLength(AT_ONCE - 1);
  for (const { body } of conflicts) {
    expect(body.error).toMatchObject({
      type: "version_conflict_engine_exception",
      reason: expect.stringContaining(`required seqNo [${_seq_no}], primary term [1].`),
    });
  }
  expect((await stored())._version).toBe(2);
});

test("of creations of one document one succeeds, in bulk requests, too", async () => {
  const create = { create: { _index: "logs", _id: "new" } };
  const body = (number: number) => `${JSON.stringify(create)}\n${JSON.stringify({ number })}\n`;
  const headers = { "content-type": "application/x-ndjson" };
  const answers = await many((number) => sandbox.raw("POST", "/_bulk", body(number), headers));
  const statuses = answers.map(({ body: { items } }) => items[0].create.status).sort();
  expect(statuses).toEqual([201, ...Array.from({ length: AT_ONCE - 1 }, () => 409)]);
});

test("updates, changes by query and the control plane overwrite nothing of one another", async () => {
  const patched = (number: number) =>
    sandbox.control("PATCH", "/data", {
      entity_type: "events",
      key: "1",
      changes: { [`patched${number}`]: number },
    });
  const [, patches, byQuery] = await Promise.all([
    many((number) => update(number)),
    many(patched),
    many(() => sandbox.raw("POST", "/logs/_update_by_query", {})),
  ]);
  expect(patches.map(({ status }) => status)).toEqual(patches.map(() => 200));
  for (const { status, body } of byQuery) {
    expect({ status, ...body }).toMatchObject({ status: 200, total: 1, updated: 1, version_conflicts: 0 });
  }
  const { _version, _source } = await stored();
  expect(_version).toBe(1 + 3 * AT_ONCE);
  expect(Object.keys(_source)).toHaveLength(1 + 2 * AT_ONCE);
});

test("two deletions by query remove each document once", async () => {
  await many((number) => sandbox.raw("PUT", `/logs/_doc/more-${number}`, {}));
  const answers = await many(() =>
    sandbox.raw("POST", "/logs/_delete_by_query", { query: { match_all: {} } }),
  );
  const deleted = answers.reduce((sum, { body }) => sum + body.deleted, 0);
  expect(deleted).toBe(1 + AT_ONCE);
  expect(answers.map(({ body }) => body.version_conflicts)).toEqual(answers.map(() => 0));
});
