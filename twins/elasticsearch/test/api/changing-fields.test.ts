/** Searches during writes that change the types of the searched columns. */

import { sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import { withCurrentFields } from "@offhook/log-store/store/store-reader";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileQuery } from "../../query/compile.ts";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());

test("a statement is recompiled when its column has changed", async () => {
  const store = await openLogStore();
  try {
    const write = (tags: unknown) => store.write([{ index: "logs", source: JSON.stringify({ tags }) }]);
    await write("a");
    let attempts = 0;
    const { rows } = await withCurrentFields(store, async (fields) => {
      const context = { fields, fidelity: "vendor" as const, nowMs: 0, index: "logs" };
      const { predicate } = compileQuery({ term: { "tags.keyword": "a" } }, context);
      if (attempts++ === 0) await write(["a", "b"]);
      return store.query(sql`SELECT count(*) FROM documents AS d WHERE ${predicate}`);
    });
    expect({ attempts, rows }).toEqual({ attempts: 2, rows: [[2]] });
  } finally {
    await store.close();
  }
});

test("a failure between the change of the database and that of the catalog waits for the catalog", async () => {
  const store = await openLogStore();
  try {
    const write = (tags: unknown) => store.write([{ index: "logs", source: JSON.stringify({ tags }) }]);
    await write("a");
    const before = store.fields;
    await write(["a", "b"]);
    const late = {
      fields: before,
      fieldsSettled: async () => {
        late.fields = store.fields;
      },
    };
    const seen = await withCurrentFields(late, async (fields) => {
      if (fields === before) throw new Error("Binder Error: the column is of another type");
      return fields.get("tags")?.multi;
    });
    expect(seen).toBe(true);
  } finally {
    await store.close();
  }
});

test("a failure without a change of fields is not retried", async () => {
  const store = await openLogStore();
  try {
    let attempts = 0;
    const failing = withCurrentFields(store, async () => {
      attempts++;
      throw new Error("this one");
    });
    await expect(failing).rejects.toThrow("this one");
    expect(attempts).toBe(1);
  } finally {
    await store.close();
  }
});

test("searches, changes by query and ES|QL meet a field that gets a second value", async () => {
  const json = { "content-type": "application/json" };
  for (let round = 0; round < 8; round++) {
    const [text, number] = [`text${round}`, `number${round}`];
    await sandbox.raw("PUT", `/logs/_doc/${round}`, { [text]: "a", [number]: 1 });
    const query = { bool: { should: [{ term: { [`${text}.keyword`]: "a" } }, { term: { [number]: 1 } }] } };
    const search = { query, sort: [number], aggs: { a: { terms: { field: `${text}.keyword` } } } };
    const several = `{}\n${JSON.stringify(search)}\n`;
    const answers = await Promise.all([
      sandbox.raw("POST", "/logs/_search", search),
      sandbox.raw("POST", "/_msearch", several, { "content-type": "application/x-ndjson" }),
      sandbox.raw("POST", "/logs/_async_search", search),
      sandbox.raw("POST", "/logs/_count", { query }),
      sandbox.raw("PUT", `/logs/_doc/more-${round}`, { [text]: ["a", "b"], [number]: [1, 2] }),
      sandbox.raw("POST", "/logs/_update_by_query", { query }),
      sandbox.raw("POST", "/_query", { query: `FROM logs | WHERE ${number} == 1 | SORT ${text}` }, json),
      sandbox.raw("POST", `/logs/_explain/${round}`, { query }),
      sandbox.raw("POST", "/logs/_search", search),
    ]);
    for (const { status, body } of answers) {
      expect({ status, body }).toMatchObject({ status: expect.toSatisfy((code: number) => code < 300) });
      expect(JSON.stringify(body)).not.toContain("the twin failed");
    }
  }
});
