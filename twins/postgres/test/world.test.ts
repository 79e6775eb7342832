import {
  type Problem,
  type WorldChange,
  WorldRefusal,
  WorldUnavailable,
} from "@offhook/platform/world/world";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import type { PostgresTwin } from "../index.ts";
import { connect } from "../testing/postgres-twin.ts";
import { startTwinForEachTest } from "./fresh-twin.ts";

let twin: PostgresTwin;
let client: pg.Client;
const everything = { limit: 1000, offset: 0, where: {} };

startTwinForEachTest((fresh) => {
  ({ twin, client } = fresh);
});

async function problemsOf(write: Promise<unknown>): Promise<Problem[]> {
  const refusal = await write.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refusal instanceof WorldRefusal)) throw new Error(`expected a refusal, got ${refusal}`);
  return refusal.problems;
}

/** Resolves with the changes told until one satisfies `last`. */
function changesUntil(last: (change: WorldChange) => boolean): Promise<WorldChange[]> {
  const changes: WorldChange[] = [];
  return new Promise((resolve) => {
    const stop = twin.world.watch((change) => {
      changes.push(change);
      if (!last(change)) return;
      stop();
      resolve(changes);
    });
  });
}

describe("the schema", () => {
  it("describes every table and column in plain language", async () => {
    const tables = await twin.world.schema();
    expect(tables.map(({ name, key }) => [name, key])).toEqual([
      ["services", "name"],
      ["engineers", "id"],
      ["on_call", "service"],
      ["incidents", "id"],
      ["pg_sequences", "sequence"],
      ["pg_definitions", "object"],
    ]);
    for (const table of tables) {
      expect(table.description, table.name).not.toBe("");
      for (const column of table.columns)
        expect(column.description, `${table.name}.${column.name}`).not.toBe("");
    }
    const incidents = tables.find(({ name }) => name === "incidents");
    expect(incidents?.columns.map(({ description, ...column }) => column)).toEqual([
      { name: "id", type: "text", required: false, default: expect.stringContaining("nextval") },
      { name: "service", type: "text", required: true, references: "services.name" },
      { name: "severity", type: "integer", required: true, allowed: [1, 2, 3, 4] },
      { name: "title", type: "text", required: true },
      {
        name: "status",
        type: "text",
        required: false,
        default: "open",
        allowed: ["open", "investigating", "resolved"],
      },
      { name: "opened_at", type: "timestamp", required: false, default: "now()" },
      { name: "updated_at", type: "timestamp", required: false, default: "now()" },
    ]);
  });

  it("has the tables that the code under test makes, too", async () => {
    await client.query(`CREATE TYPE mood AS ENUM ('calm', 'tense');
      CREATE TABLE notes (id int PRIMARY KEY, mood mood NOT NULL, tags text[], n numeric(6,2) CHECK (n <> 0))`);
    const notes = (await twin.world.schema()).find(({ name }) => name === "notes");
    expect(notes?.columns).toEqual([
      { name: "id", type: "integer", required: true, description: "Column id, which has no comment on it." },
      {
        name: "mood",
        type: "text",
        required: true,
        description: "Column mood, which has no comment on it.",
        allowed: ["calm", "tense"],
      },
      {
        name: "tags",
        type: "list of text",
        required: false,
        description: "Column tags, which has no comment on it.",
      },
      { name: "n", type: "decimal", required: false, description: "Column n, which has no comment on it." },
    ]);
    expect(await twin.world.counts()).toMatchObject({ notes: 0 });
    await client.query("DROP TABLE notes");
    expect(await twin.world.counts()).not.toHaveProperty("notes");
  });
});

describe("reading", () => {
  it("starts with the seed, and the next incident is INC-1042", async () => {
    expect(await twin.world.counts()).toEqual({
      services: 4,
      engineers: 4,
      on_call: 4,
      incidents: 3,
      pg_sequences: 2,
      pg_definitions: 0,
    });
    const { rows } = await client.query(
      "INSERT INTO incidents (service, severity, title) VALUES ('search', 4, 'Slow') RETURNING id, status",
    );
    expect(rows).toEqual([{ id: "INC-1042", status: "open" }]);
  });

  it("pages in the order of the key and filters by text", async () => {
    const page = await twin.world.rows("incidents", { limit: 1, offset: 1, where: {} });
    expect(page).toMatchObject({ total: 3, rows: [{ id: "INC-1040" }] });
    const found = await twin.world.rows("incidents", {
      ...everything,
      where: { severity: "2", service: "checkout" },
    });
    expect(found).toEqual({
      total: 1,
      rows: [
        {
          id: "INC-1041",
          service: "checkout",
          severity: 2,
          title: "Orders are placed twice when the confirmation page is reloaded",
          status: "investigating",
          opened_at: "2026-03-02T09:31:00Z",
          updated_at: "2026-03-02T09:47:00Z",
        },
      ],
    });
  });

  it("says what is wrong with a table, a filter column or a filter value", async () => {
    expect(await problemsOf(twin.world.rows("nothing", everything))).toMatchObject([{ table: "nothing" }]);
    expect(
      await problemsOf(twin.world.rows("incidents", { ...everything, where: { colour: "red" } })),
    ).toMatchObject([{ table: "incidents", column: "colour", rule: expect.stringContaining("opened_at") }]);
    expect(
      await problemsOf(twin.world.rows("incidents", { ...everything, where: { severity: "high" } })),
    ).toMatchObject([{ column: "severity", value: "high", rule: expect.stringContaining("smallint") }]);
  });
});

describe("writing", () => {
  it("adds rows of many tables that refer to one another, in whatever order they come", async () => {
    const answer = await twin.world.insert({
      incidents: [{ service: "billing", severity: 1, title: "No invoices" }],
      on_call: [{ service: "billing", engineer_id: 50 }],
      engineers: [{ id: 50, name: "Ada", phone: "+44" }],
      services: [{ name: "billing", description: "Sends invoices." }],
    });
    expect(answer).toEqual({ incidents: 1, on_call: 1, engineers: 1, services: 1 });
    const { rows } = await client.query("SELECT id, status FROM incidents WHERE service = 'billing'");
    expect(rows).toEqual([{ id: "INC-1042", status: "open" }]);
  });

  it("adds rows of one table that refer to one another", async () => {
    await client.query("CREATE TABLE parts (id int PRIMARY KEY, whole int REFERENCES parts)");
    await twin.world.insert({ parts: [{ id: 1, whole: 2 }, { id: 2, whole: 3 }, { id: 3 }] });
    await client.query(`CREATE TABLE a (id int PRIMARY KEY, b int);
      CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a); ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b`);
    await twin.world.insert({ a: [{ id: 1 }, { id: 2, b: 1 }], b: [{ id: 1, a: 1 }] });
    expect(await twin.world.counts()).toMatchObject({ parts: 3, a: 2, b: 1 });
  });

  it("refuses a body and lists everything that is wrong with it", async () => {
    const before = await twin.world.dump();
    const version = twin.world.stateVersion;
    const problems = await problemsOf(
      twin.world.insert({
        nothing: [{}],
        engineers: [
          { name: "Ada", phone: 12, shoe: 41 },
          { id: "first", name: null },
        ],
        incidents: [
          { service: "search", severity: 2.5, title: "x", opened_at: "yesterday-ish" },
          { service: "search", severity: 70_000, title: "y" },
        ],
      }),
    );
    expect(problems.map(({ table, row, column }) => [table, row, column])).toEqual([
      ["nothing", undefined, undefined],
      ["engineers", 0, "phone"],
      ["engineers", 0, "shoe"],
      ["engineers", 1, "id"],
      ["engineers", 1, "name"],
      ["engineers", 1, "phone"],
      ["incidents", 0, "severity"],
      ["incidents", 0, "opened_at"],
      ["incidents", 1, "severity"],
    ]);
    expect(await twin.world.dump()).toEqual(before);
    expect(twin.world.stateVersion).toBe(version);
  });

  it("refuses broken references, keys given twice and values a check forbids, all of them at once", async () => {
    const before = await twin.world.dump();
    const problems = await problemsOf(
      twin.world.insert({
        incidents: [
          { service: "checkuot", severity: 9, title: "" },
          { service: "search", severity: 1, title: "fine" },
          { id: "INC-1041", service: "search", severity: 1, title: "taken", status: "lost" },
          { id: "INC-7", service: "search", severity: 1, title: "first" },
          { id: "INC-7", service: "search", severity: 1, title: "second" },
        ],
        on_call: [
          { service: "broken", engineer_id: 1 },
          { service: "search", engineer_id: 77 },
        ],
        services: [
          { name: "broken", description: "Refused itself." },
          { name: "broken", description: "Twice." },
        ],
      }),
    );
    expect(problems.map(({ table, row, column }) => `${table} ${row} ${column}`).sort()).toEqual([
      "incidents 0 service",
      "incidents 0 severity",
      "incidents 0 title",
      "incidents 2 id",
      "incidents 2 status",
      "incidents 4 id",
      "on_call 1 engineer_id",
      "on_call 1 service",
      "services 1 name",
    ]);
    expect(problems.find(({ row, column }) => row === 0 && column === "service")).toEqual({
      table: "incidents",
      row: 0,
      column: "service",
      value: "checkuot",
      rule: "there is no such row in services (name)",
    });
    const { pg_sequences: _, ...tables } = await twin.world.dump();
    expect(before).toMatchObject(tables);
  });

  it("changes and removes the rows that match, and says how many", async () => {
    expect(
      await twin.world.update("incidents", { service: "checkout" }, { status: "resolved", severity: 3 }),
    ).toBe(1);
    expect(await twin.world.update("incidents", { id: "INC-1" }, { status: "resolved" })).toBe(0);
    expect((await client.query("SELECT id FROM incidents WHERE status = 'resolved'")).rowCount).toBe(3);
    expect(await twin.world.remove("incidents", { status: "resolved" })).toBe(3);
    expect(
      await problemsOf(twin.world.update("incidents", { id: 1 }, { severity: "2", size: 1 })),
    ).toHaveLength(3);
    expect(await problemsOf(twin.world.remove("services", { name: "search" }))).toMatchObject([
      {
        table: "services",
        column: "name",
        value: "search",
        rule: "is referred to by 1 row (on_call.service); remove those first",
      },
    ]);
  });

  it("moves a sequence, which is shown as a row of pg_sequences", async () => {
    const where = { sequence: "incident_number" };
    expect(await twin.world.update("pg_sequences", where, { last_value: "2000" })).toBe(1);
    const { rows } = await client.query("SELECT nextval('incident_number') AS next");
    expect(rows).toEqual([{ next: "2001" }]);
    expect(await problemsOf(twin.world.update("pg_sequences", where, { last_value: "many" }))).toHaveLength(
      1,
    );
  });

  it("does not wait for ever for a lock of the code under test", async () => {
    await client.query("BEGIN; LOCK TABLE incidents");
    const held = /end that transaction and ask again.*incidents is locked by a transaction open for \d+ s/;
    const all = { limit: 1, offset: 0, where: {} };
    const rows = { incidents: [{ service: "search", severity: 1, title: "x" }] };
    const asked = [
      twin.world.rows("incidents", all),
      twin.world.counts(),
      twin.world.dump(),
      twin.world.insert(rows),
      twin.world.update("incidents", { id: "INC-1041" }, { severity: 1 }),
      twin.world.remove("incidents", { id: "INC-1041" }),
      twin.world.load({}),
    ];
    for (const outcome of await Promise.allSettled(asked)) {
      expect(outcome).toMatchObject({ reason: expect.any(WorldUnavailable) });
      expect(String(outcome.status === "rejected" && outcome.reason.message)).toMatch(held);
    }
    await client.query("ROLLBACK");
    expect(await twin.world.insert(rows)).toEqual({ incidents: 1 });
  });
});

describe("the state version and the stream of changes", () => {
  it("tell of what the code under test commits, with the rows, and not of what it rolls back", async () => {
    const version = twin.world.stateVersion;
    const told = changesUntil(({ change }) => change === "remove");
    await client.query("BEGIN; UPDATE incidents SET severity = 1; ROLLBACK");
    await client.query("SET timezone = 'Asia/Tokyo'; SET datestyle = 'German'");
    await client.query(
      "INSERT INTO incidents (service, severity, title, opened_at) VALUES ('search', 4, 'é', '2026-01-01 00:00:00.123456+00')",
    );
    await client.query("UPDATE incidents SET status = 'resolved' WHERE id = 'INC-1042'");
    await client.query("DELETE FROM incidents WHERE id = 'INC-1042'");
    const changes = await told;
    expect(changes.map(({ change }) => change)).toEqual(["insert", "update", "remove"]);
    expect(changes[0]).toMatchObject({
      stateVersion: version + 1,
      table: "incidents",
      row: {
        id: "INC-1042",
        severity: 4,
        title: "é",
        status: "open",
        opened_at: "2026-01-01T00:00:00.123456Z",
      },
    });
    expect(changes[2]).toMatchObject({ stateVersion: version + 3, row: { status: "resolved" } });
    expect(twin.world.stateVersion).toBe(version + 3);
  });

  it("is up to date for whoever reads the world after a commit", async () => {
    for (let round = 0; round < 20; round++) {
      const version = twin.world.stateVersion;
      await client.query("UPDATE engineers SET phone = phone || '1' WHERE id = 1");
      await twin.world.counts();
      expect(twin.world.stateVersion).toBe(version + 1);
    }
  });

  it("tell of tables made later, of truncation, and of rows larger than one notification", async () => {
    const title = "📞".repeat(9_000);
    const told = changesUntil(({ table, change }) => table === "logs" && change === "remove");
    await client.query(
      "CREATE TABLE logs (line text); CREATE TABLE copied AS SELECT * FROM services; CREATE TEMP TABLE mine (x int)",
    );
    await client.query("INSERT INTO logs VALUES ($1)", [title]);
    await client.query("INSERT INTO mine VALUES (1)");
    await client.query("TRUNCATE logs");
    const changes = await told;
    expect(changes.map(({ table, change }) => `${table} ${change}`)).toEqual([
      "* reset",
      "* reset",
      "logs insert",
      "logs remove",
    ]);
    expect(changes[2]?.row).toEqual({ line: title });
  });

  it("tell the number, not each row, of a statement on very many rows", async () => {
    await client.query("CREATE TABLE numbers (n int)");
    const told = changesUntil(({ table, row }) => table === "numbers" && row === undefined);
    await client.query("INSERT INTO numbers SELECT generate_series(1, 5000)");
    expect((await told).filter(({ table }) => table === "numbers")).toHaveLength(1000 + 1);
  });

  it("grow with the control plane's own writes before those are answered", async () => {
    const version = twin.world.stateVersion;
    await twin.world.insert({ services: [{ name: "a", description: "b" }] });
    expect(twin.world.stateVersion).toBe(version + 1);
    await twin.world.load(await twin.world.dump());
    expect(twin.world.stateVersion).toBe(version + 1 + 4);
  });
});

describe("reset", () => {
  it("makes the database what it was at start, although clients are connected and hold locks", async () => {
    const before = await twin.world.dump();
    const version = twin.world.stateVersion;
    await client.query(
      "CREATE TABLE more (x int); INSERT INTO incidents (service, severity, title) VALUES ('search', 1, 'x')",
    );
    await client.query("BEGIN; LOCK TABLE incidents");
    const lost = new Promise((resolve) => client.once("end", () => resolve("lost")));
    await twin.reset();
    expect(await lost).toBe("lost");
    expect(await twin.world.dump()).toEqual(before);
    expect(twin.world.stateVersion).toBeGreaterThan(version);
    client = await connect(twin.url);
    const told = changesUntil(() => true);
    const { rows } = await client.query(
      "INSERT INTO incidents (service, severity, title) VALUES ('search', 1, 'x') RETURNING id",
    );
    expect(rows).toEqual([{ id: "INC-1042" }]);
    expect(await told).toMatchObject([{ change: "insert" }]);
    await client.end();
  });

  it("lets questions asked meanwhile wait", async () => {
    const answers = await Promise.all([twin.reset(), twin.world.counts(), twin.reset(), twin.world.counts()]);
    expect(answers[1]).toMatchObject({ incidents: 3 });
    expect(answers[3]).toMatchObject({ incidents: 3 });
  });

  it("refuses an unknown profile", async () => {
    expect(await problemsOf(twin.reset("nothing"))).toMatchObject([
      { rule: expect.stringContaining("profile") },
    ]);
  });
});

describe("real clients", () => {
  it("work at the same time, each in a transaction of its own", async () => {
    const others = await Promise.all(Array.from({ length: 20 }, () => connect(twin.url)));
    const ids = await Promise.all(
      others.map(async (other, i) => {
        await other.query("BEGIN");
        const { rows } = await other.query(
          "INSERT INTO incidents (service, severity, title) VALUES ('search', 3, $1) RETURNING id",
          [`number ${i}`],
        );
        await other.query(i % 2 === 0 ? "COMMIT" : "ROLLBACK");
        return rows[0].id;
      }),
    );
    expect(new Set(ids).size).toBe(20);
    expect(await twin.world.counts()).toMatchObject({ incidents: 3 + 10 });
    await Promise.all(others.map((other) => other.end()));
  });

  it("cannot use up the server: a sandbox has a limited number of connections", async () => {
    const opened: pg.Client[] = [];
    const open = async () => {
      for (;;) opened.push(await connect(twin.url));
    };
    await expect(open()).rejects.toThrow(/too many connections/);
    expect(opened.length).toBeLessThan(100);
    await Promise.all(opened.map((other) => other.end()));
  });
});
