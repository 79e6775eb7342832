/** Requests to indices that were never created, or that hold other events. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
let vendor: SearchSandbox;
beforeAll(async () => {
  [sandbox, vendor] = await Promise.all([startSearch(), startSearch({ fidelity: "vendor" })]);
  for (const { raw } of [sandbox, vendor]) {
    for (const index of ["logs", "audit"]) await raw("PUT", `/${index}/_doc/1`, { level: "info" });
  }
});
afterAll(() => Promise.all([sandbox.stop(), vendor.stop()]));

describe("writes by query in specification", () => {
  const query = { match_all: {} };
  test.each([
    ["_delete_by_query?q=*", undefined],
    ["_delete_by_query", { query }],
    ["_update_by_query?refresh", { query }],
    ["_update_by_query", undefined],
  ])("of a name that selects nothing touch nothing: %s", async (route, body) => {
    for (const name of ["never-made", "never-*", "nope,nope2", "never-made*,-logs"]) {
      const answer = await sandbox.raw("POST", `/${name}/${route}`, body);
      expect({ name, status: answer.status, total: answer.body.total }).toEqual({
        name,
        status: 200,
        total: 0,
      });
    }
    // A read of a missing name covers the whole dataset.
    expect((await sandbox.raw("GET", "/never-made/_count")).body.count).toBe(2);
  });

  test("of several names change the existing ones, and of all names everything", async () => {
    const one = await sandbox.raw("POST", "/never-made,audit/_delete_by_query", { query });
    expect(one.body).toMatchObject({ total: 1, deleted: 1 });
    await sandbox.raw("PUT", "/audit/_doc/1", { level: "info" });
    const all = await sandbox.raw("POST", "/_all/_update_by_query");
    expect(all.body).toMatchObject({ total: 2, updated: 2 });
  });
});

describe("the health of indices", () => {
  const health = async ({ raw }: SearchSandbox, path: string) => {
    const { status, body } = await raw("GET", `/_cluster/health${path}`);
    return { status, health: body.status, timed_out: body.timed_out, shards: body.active_primary_shards };
  };
  const green = { status: 200, health: "green", timed_out: false };

  test.each([
    ["/logs", 1],
    ["/logs,audit?level=indices", 2],
    ["/*?wait_for_status=yellow&timeout=1s", 2],
    ["/never-*", 0],
    ["", 2],
  ])("counts the shards of those that are asked for: %s", async (path, shards) => {
    expect(await health(vendor, path)).toEqual({ ...green, shards });
  });

  test("is red and timed out where one is missing, and in specification always green", async () => {
    const red = { status: 408, health: "red", timed_out: true };
    expect(await health(vendor, "/never-made")).toEqual({ ...red, shards: 0 });
    expect(await health(vendor, "/logs,never-made")).toEqual({ ...red, shards: 1 });
    expect(await health(sandbox, "/never-made")).toMatchObject(green);
  });

  test("of single indices is by name", async () => {
    const { body } = await vendor.raw("GET", "/_cluster/health/audit?level=shards");
    expect(Object.keys(body.indices)).toEqual(["audit"]);
    expect(body.indices.audit.shards["0"]).toMatchObject({ status: "green", primary_active: true });
    const { status, body: refused } = await vendor.raw("GET", "/_cluster/health?level=toString");
    expect({ status, reason: refused.error.reason }).toEqual({
      status: 400,
      reason: "level parameter must be one of [cluster] or [indices] or [shards] but was [toString]",
    });
  });
});

test("an id in several indices is removed from the named one", async () => {
  const left = async () =>
    (await vendor.raw("GET", "/first,second/_search?ignore_unavailable=true")).body.hits.hits.map(
      ({ _index }: { _index: string }) => _index,
    );
  const write = (index: string) => vendor.raw("PUT", `/${index}/_doc/same`, { level: "info" });
  await Promise.all(["first", "second"].map(write));
  expect((await vendor.raw("DELETE", "/first/_doc/same")).body.result).toBe("deleted");
  expect(await left()).toEqual(["second"]);
  await write("first");
  const action = `{"delete":{"_index":"second","_id":"same"}}\n`;
  await vendor.raw("POST", "/_bulk", action, { "content-type": "application/x-ndjson" });
  expect(await left()).toEqual(["first"]);
  await write("second");
  await vendor.raw("POST", "/first/_delete_by_query", { query: { match_all: {} } });
  expect(await left()).toEqual(["second"]);
});
