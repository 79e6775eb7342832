/** A write or reset that is refused leaves nothing behind: not a row, a file, a version, or a number that ids are made of. */

import { type Answer, request } from "@offhook/platform/testing/http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EveryTwin, type Sample, startEveryTwin } from "../../support/every-twin.ts";

let every: EveryTwin;
beforeAll(async () => {
  every = await startEveryTwin();
});
afterAll(() => every.stop());

type Control = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** The control plane of one twin in a sandbox of its own. */
async function freshControl(name: string): Promise<Control> {
  const { baseUrl, apiKey } = every.twins;
  const headers = { "x-api-key": apiKey };
  const made = await request("POST", `${baseUrl}/sandboxes`, { headers, body: { services: [{ name }] } });
  const { control_url } = made.body.twins.find((twin: { name: string }) => twin.name === name);
  return (method, path, body) => request(method, `${control_url}/sim${path}`, { headers, body });
}

const snapshot = async (control: Control) =>
  (await control("POST", "/snapshot", { content_hash: true })).body as Record<string, unknown>;

/** Requests that have to be refused, whatever else is in them. */
function refusedRequests({ table, key, rows, change, badChange, child, parent }: Sample) {
  const good = fc.subarray([...rows.map((row, place) => ({ ...row, [key]: `new-${place}` }))]);
  const bad = fc.constantFrom<object>(
    { ...rows[0], ...badChange },
    { ...rows[0], [key]: rows[0][key] },
    { ...rows[1], [key]: 5 },
  );
  const tables = fc.tuple(good, bad, good, fc.boolean()).map(([before, wrong, after, unknown]) => ({
    [table]: [...before, wrong, ...after, ...(wrong === undefined ? [] : [wrong])],
    ...(unknown ? { no_such_table: [{}] } : {}),
  }));
  const wrongTables = fc.oneof(
    tables,
    fc.constant({ [table]: [{ ...rows[0], [key]: "fresh" }], no_such_table: [{ a: 1 }] }),
    ...(child && parent ? [fc.constant({ [child.table]: [child.row("nothing there")] })] : []),
    fc.constant({ files: [{ name: "x" }], [table]: [{ ...rows[0], [key]: "beside a file" }] }),
  );
  const ask = (method: string, path: string, body?: unknown) => ({ method, path, body });
  return fc.oneof(
    wrongTables.map((data) => ask("POST", "/data", { data })),
    wrongTables.map((data) => ask("POST", "/reset", { data })),
    wrongTables.map((data) => ask("POST", "/reset", { data: { state_version: 1, tables: data } })),
    fc.constantFrom(
      ask("POST", "/reset", { profile: "no such profile" }),
      ask("POST", "/reset", { profile: "default", data: {} }),
      ask("POST", "/reset", { nonsense: 1 }),
      ask("POST", "/reset", '{"data": {"'),
      ask("PATCH", "/data", { entity_type: table, key: rows[0][key], changes: badChange }),
      ask("PATCH", "/data", {
        entity_type: table,
        key: rows[0][key],
        changes: { ...change, [key]: "other" },
      }),
      ask("PATCH", "/data", {
        data: {
          [table]: [
            { [key]: rows[0][key], ...change },
            { [key]: rows[1][key], ...badChange },
          ],
        },
      }),
      ask("PATCH", "/data", { data: { [table]: [{ [key]: rows[0][key], ...change }, { [key]: "nobody" }] } }),
      ask("DELETE", "/data", { entity_type: table, where: { [key]: 5, shoe: 1 } }),
      ask("DELETE", `/data?entity_type=${table}`),
      ask("POST", "/files?name=kept", "another"),
      ask("POST", "/files?name=a%2Fb", "bad name"),
    ),
  );
}

describe.each(["elasticsearch", "engine", "splunk", "vapi"])("%s", (name) => {
  test("refused writes and resets leave the snapshot, the version and the ids to come as they were", async () => {
    const { sample } = every.of(name);
    const refusing = await freshControl(name);
    const untouched = await freshControl(name);
    for (const control of [refusing, untouched]) {
      expect((await control("POST", "/data", { data: { [sample.table]: sample.rows } })).status).toBe(201);
      expect((await control("POST", "/files?name=kept", "kept")).status).toBe(201);
    }
    const before = await snapshot(refusing);
    await fc.assert(
      fc.asyncProperty(refusedRequests(sample), async ({ method, path, body }) => {
        const answer = await refusing(method, path, body);
        expect([answer.status >= 400 && answer.status < 500, answer.text]).toEqual([true, answer.text]);
        const after = await snapshot(refusing);
        expect(after.tables).toEqual(before.tables);
        expect([after.state_version, after.content_hash]).toEqual([
          before.state_version,
          before.content_hash,
        ]);
      }),
      { numRuns: 60 },
    );
    const added = [];
    for (const control of [refusing, untouched]) {
      const { [sample.key]: _made, ...row } = sample.rows[1];
      const given = name === "elasticsearch" || name === "splunk" ? row : sample.rows[1];
      await control("POST", "/data", { data: { [sample.table]: [{ ...given, ...sample.change }] } });
      const page = await control("GET", `/data?entity_type=${sample.table}&limit=1000`);
      added.push(page.body.rows.map((shown: object) => ({ ...shown, created_at: undefined })));
    }
    expect(added[0]).toEqual(added[1]);
    expect(added[0].length).toBeGreaterThan(sample.rows.length - 1);
  });

  test("two fresh sandboxes have the same content, whenever they are made and whatever their clocks say", async () => {
    const one = await freshControl(name);
    await one("PUT", "/clock", { now: "2031-05-06T07:08:09Z" });
    await one("POST", "/reset");
    const other = await freshControl(name);
    const [first, second] = [await snapshot(one), await snapshot(other)];
    expect(second.tables).toEqual(first.tables);
    expect(second.content_hash).toBe(first.content_hash);
    expect(first.content_hash).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("splunk's rows that refer to others", () => {
  const sha = "0".repeat(64);
  const references = [
    {
      table: "users",
      row: { name: "ann", password_sha256: sha },
      column: "roles",
      bad: ["power", "none"],
      good: ["power", "mine"],
    },
    {
      table: "users",
      row: { name: "ann", password_sha256: sha },
      column: "default_app",
      bad: "none",
      good: "search",
    },
    {
      table: "roles",
      row: { name: "theirs" },
      column: "imported_roles",
      bad: ["none"],
      good: ["mine", "user"],
    },
    { table: "saved_searches", row: { name: "s", search: "x" }, column: "owner", bad: "none", good: "bob" },
    { table: "saved_searches", row: { name: "s", search: "x" }, column: "app", bad: "none", good: "search" },
    { table: "hec_tokens", row: { name: "t", token_sha256: sha }, column: "index", bad: "none", good: "web" },
    {
      table: "hec_tokens",
      row: { name: "t", token_sha256: sha },
      column: "indexes",
      bad: ["main", "none"],
      good: ["main", "web"],
    },
    { table: "views", row: { name: "v", data: "<a/>" }, column: "owner", bad: "none", good: "nobody" },
    { table: "conf_stanzas", row: { name: "a/b" }, column: "app", bad: "none", good: "system" },
    {
      table: "storage_passwords",
      row: { name: ":u:", username: "u", password_sha256: sha },
      column: "owner",
      bad: "none",
      good: "bob",
    },
  ];
  const targets = {
    users: [{ name: "bob", password_sha256: sha }],
    roles: [{ name: "mine" }],
    indexes: [{ name: "web" }],
  };

  test.each(references)(
    "$table.$column is refused when nothing is there, and says where that would be",
    async (one) => {
      const { table, row, column, bad, good } = one;
      const control = await freshControl("splunk");
      const { tables } = (await control("GET", "/schema")).body;
      const { key_columns, columns } = tables.find(({ name }: { name: string }) => name === table);
      const described = columns.find(({ name }: { name: string }) => name === column);
      const [target = "", key = ""] = described.references.split(".");
      const refused = await control("POST", "/data", { data: { [table]: [{ ...row, [column]: bad }] } });
      expect(refused.status).toBe(422);
      expect(refused.body.error.problems).toMatchObject([
        { table, row: 0, column, value: "none", rule: expect.stringContaining(`${target}.${key}`) },
      ]);
      const given = await control("POST", "/data", {
        data: {
          ...targets,
          [table]: [...(table in targets ? Object(targets)[table] : []), { ...row, [column]: good }],
        },
      });
      expect([given.status, given.text]).toEqual([201, given.text]);
      const stored: Record<string, unknown> = { owner: "nobody", app: "search", ...row, [column]: good };
      const pick = (names: string[]) => Object.fromEntries(names.map((name) => [name, stored[name]]));
      const rowKey = key_columns === undefined ? row.name : pick(key_columns);
      const changed = { entity_type: table, key: rowKey, changes: { [column]: bad } };
      expect((await control("PATCH", "/data", changed)).body.error.problems).toMatchObject([
        { column, value: "none" },
      ]);
      const referred = ["bob", "mine", "web"].find((name) => [good].flat().includes(name));
      if (referred === undefined) return;
      const removal = await control("DELETE", "/data", { entity_type: target, key: referred });
      expect(removal.status).toBe(422);
      expect(removal.body.error.problems[0].rule).toContain(`${table}.${column}`);
      await control("DELETE", "/data", { entity_type: table, key: rowKey });
      expect((await control("DELETE", "/data", { entity_type: target, key: referred })).status).toBe(200);
    },
  );
});
