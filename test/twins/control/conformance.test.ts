/** One suite over every twin's world: whatever holds the rows, the control plane behaves the same. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type EveryTwin,
  relatedTwinNames,
  relationOf,
  startEveryTwin,
  type TwinUnderTest,
  twinNames,
} from "../../support/every-twin.ts";

let every: EveryTwin;
beforeAll(async () => {
  every = await startEveryTwin();
});
afterAll(() => every.stop());

/** What `POST /sim/reset` would lose: the table that the code under test has made. */
const starts = new Map<string, unknown>();
async function backToStart(twin: TwinUnderTest): Promise<void> {
  const start = starts.get(twin.name);
  if (start) expect((await twin.control("POST", "/reset", { data: start })).status).toBe(200);
  else starts.set(twin.name, (await twin.control("POST", "/snapshot")).body.tables);
}

const tablesOf = async (twin: TwinUnderTest) => (await twin.control("POST", "/snapshot")).body.tables;

describe.each(twinNames)("%s", (name) => {
  let twin: TwinUnderTest;
  beforeEach(async () => {
    twin = every.of(name);
    await backToStart(twin);
  });

  const add = (table: string, ...rows: object[]) =>
    twin.control("POST", "/data", { data: { [table]: rows } });
  const change = (table: string, key: unknown, changes: object) =>
    twin.control("PATCH", "/data", { entity_type: table, key, changes });

  test("counts and pages agree with the schema", async () => {
    const { tables } = (await twin.control("GET", "/schema")).body;
    const { counts } = (await twin.control("GET", "/data")).body;
    expect(Object.keys(counts).sort()).toEqual(tables.map((table: { name: string }) => table.name).sort());
    for (const table of tables) {
      expect(table.description).toMatch(/\w.*\.$/);
      const page = (await twin.control("GET", `/data?entity_type=${table.name}&limit=1`)).body;
      expect(page).toMatchObject({ entity_type: table.name, total: counts[table.name], limit: 1, offset: 0 });
      expect(page.rows.length).toBe(Math.min(1, page.total));
      for (const column of table.columns) {
        expect(column).toMatchObject({ name: expect.any(String), required: expect.any(Boolean) });
        expect(column.type).toMatch(/^[a-z ]+$/);
        expect(column.description).toMatch(/\w.*\.$/);
      }
    }
  });

  test("rows are added, paged, filtered, changed and removed", async () => {
    const { table, key, rows, change: changes } = twin.sample;
    const before = (await twin.control("GET", `/data?entity_type=${table}`)).body.total;
    expect((await add(table, ...rows)).body).toMatchObject({ added: { [table]: 2 } });
    const all = await twin.control("GET", `/data?entity_type=${table}&offset=1&limit=1000`);
    expect(all.body).toMatchObject({ total: before + 2, offset: 1 });
    expect(all.body.rows).toHaveLength(before + 1);
    const value = String(rows[1][key]);
    const filter = new URLSearchParams({ entity_type: table, [key]: value });
    const found = (await twin.control("GET", `/data?${filter}`)).body;
    expect(found).toMatchObject({ total: 1, rows: [rows[1]] });
    expect((await change(table, rows[0][key], changes)).body).toMatchObject({ updated: 1 });
    expect(
      (await twin.control("PATCH", "/data", { entity_type: table, where: { [key]: value }, changes })).body,
    ).toMatchObject({ updated: 1 });
    const changed = (await twin.control("GET", `/data?${filter}`)).body.rows[0];
    expect(changed).toMatchObject(changes);
    for (const { [key]: removed } of rows) {
      const answer = await twin.control("DELETE", "/data", { entity_type: table, key: { [key]: removed } });
      expect(answer.body).toMatchObject({ removed: 1 });
    }
  });

  test("what matches nothing is a 404, and what cannot match is a 422", async () => {
    const { table, key, change: changes } = twin.sample;
    expect((await change(table, "no such row", changes)).status).toBe(404);
    expect((await twin.control("DELETE", "/data", { entity_type: table, key: "no such row" })).status).toBe(
      404,
    );
    const bad = { entity_type: table, where: { [key]: 5, shoe: 1 }, changes };
    const refused = await twin.control("PATCH", "/data", bad);
    expect(refused.status).toBe(422);
    expect(refused.body.error.problems.map(({ column }: { column: string }) => column).sort()).toEqual(
      [key, "shoe"].sort(),
    );
    for (const entity_type of ["no_such_table", "__proto__", "constructor"]) {
      const answers = [
        await twin.control("GET", `/data?entity_type=${entity_type}`),
        await twin.control("PATCH", "/data", { entity_type, key: "x", changes }),
        await twin.control("DELETE", "/data", { entity_type, where: { x: 1 } }),
        await twin.control("POST", "/data", JSON.parse(`{"data": {"${entity_type}": [{}]}}`)),
      ];
      expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    }
  });

  test("a bad value among good rows is named, and stores nothing", async () => {
    const { table, rows, badChange } = twin.sample;
    const before = await tablesOf(twin);
    const answer = await twin.control("POST", "/data", {
      data: { no_such_table: [{}], [table]: [rows[0], { ...rows[1], ...badChange }] },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ table: "no_such_table" }),
        expect.objectContaining({ table, row: 1, column: Object.keys(badChange)[0] }),
      ]),
    );
    expect(await tablesOf(twin)).toEqual(before);
  });

  test("who names a table that is not there is told of every table there is", async () => {
    const { tables } = (await twin.control("GET", "/schema")).body;
    const names = tables.map(({ name }: { name: string }) => name).join(", ");
    const problems = [{ table: "none", rule: `no such table; this world has ${names}` }];
    for (const answer of [
      await twin.control("GET", "/data?entity_type=none"),
      await twin.control("POST", "/data", { data: { none: [{}] } }),
      await twin.control("POST", "/reset", { data: { none: [{}] } }),
      await twin.control("PATCH", "/data", { entity_type: "none", where: { a: 1 }, changes: { a: 2 } }),
      await twin.control("DELETE", "/data", { entity_type: "none", where: { a: 1 } }),
    ]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error.problems).toEqual(problems);
    }
    expect(names.endsWith("files")).toBe(true);
  });

  test("what is no address is refused as a callback destination, not failed over", async () => {
    for (const url of ["nonsense", "http://", "ftp://x/", "http://a b/", ""]) {
      const answer = await twin.control("PUT", "/client", { url });
      expect(answer.status).toBe(422);
      expect(answer.body.error.problems).toMatchObject([{ field: "url" }]);
    }
  });

  test("ten thousand rows of which the last is bad leave nothing behind", async () => {
    const { table, key, rows, badChange } = twin.sample;
    const many: object[] = Array.from({ length: 9_999 }, (_, index) => ({
      ...rows[1],
      [key]: `row ${index}`,
    }));
    const usable = name === "engine" ? many.map((row, index) => ({ ...row, [key]: `row-${index}` })) : many;
    const before = await tablesOf(twin);
    const answer = await add(table, ...usable, { ...rows[1], [key]: "last", ...badChange });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toMatchObject([{ table, row: 9_999 }]);
    expect(await tablesOf(twin)).toEqual(before);
  });

  test("snapshots taken while rows are written and the twin is reset are never torn", async () => {
    const { together, counted } = twoRows(twin);
    const start = await tablesOf(twin);
    const work: Promise<unknown>[] = [];
    const seen: { tables: Record<string, { [column: string]: unknown }[]>; state_version: number }[] = [];
    for (let round = 0; round < 8; round++) {
      work.push(twin.control("POST", "/data", { data: together }));
      work.push(twin.control("POST", "/snapshot").then(({ body }) => seen.push(body)));
      work.push(twin.control("POST", "/reset", { data: start }));
      work.push(twin.control("POST", "/snapshot").then(({ body }) => seen.push(body)));
    }
    await Promise.all(work);
    expect(seen).toHaveLength(16);
    for (const { tables } of seen) {
      const [first, second] = counted.map(
        ({ table, column, value }) => tables[table]?.filter((row) => row[column] === value).length ?? 0,
      );
      expect(first).toBe(second);
    }
  });

  test("dump and load are inverse, whatever the rows hold", async () => {
    const { table, key, rows } = twin.sample;
    const text = fc.string({ unit: "grapheme", maxLength: 40 }).filter((value) => !value.includes("\0"));
    const content = fc.record({
      name: text,
      text,
      json: fc.jsonValue(),
      byte: fc.uint8Array({ maxLength: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(content, { maxLength: 15 }), async (contents) => {
        await backToStart(twin);
        const added = contents.map(({ text: value, json }, index) => rowWith(name, `${index}`, value, json));
        expect((await add(table, ...(added.length > 0 ? added : rows))).status).toBe(201);
        for (const [index, { byte }] of contents.entries()) {
          await fetch(`${twin.controlUrl}/sim/files?name=file-${index}`, {
            method: "POST",
            headers: { "x-api-key": twin.twins.apiKey, "content-type": "application/octet-stream" },
            body: Buffer.from(byte),
          });
        }
        const taken = (await twin.control("POST", "/snapshot", { content_hash: true })).body;
        await backToStart(twin);
        const answer = await twin.control("POST", "/reset", { data: taken.tables });
        expect(answer.status).toBe(200);
        const again = (await twin.control("POST", "/snapshot", { content_hash: true })).body;
        expect(again.tables).toEqual(taken.tables);
        expect(again.content_hash).toBe(taken.content_hash);
        expect(again.state_version).toBeGreaterThan(taken.state_version);
      }),
      { numRuns: 10 },
    );
    expect(key).toBeDefined();
  });
});

/** Two rows that are written together, and how each of them is found in a snapshot. */
function twoRows({ sample }: TwinUnderTest) {
  const { table, key, rows } = sample;
  if (!sample.child) {
    const counted = rows.map((row) => ({ table, column: key, value: row[key] }));
    return { together: { [table]: rows }, counted };
  }
  const { child, parent } = relationOf(sample);
  const value = parent.row[parent.key];
  return {
    together: { [child.table]: [child.row(value)], [parent.table]: [parent.row] },
    counted: [
      { table: parent.table, column: parent.key, value },
      { table: child.table, column: child.column, value },
    ],
  };
}

describe.each(relatedTwinNames)("%s, whose tables are declared,", (name) => {
  let twin: TwinUnderTest;
  beforeEach(async () => {
    const tested = every.of(name);
    twin = { ...tested, sample: tested.declared };
    await backToStart(twin);
  });

  const change = (table: string, key: unknown, changes: object) =>
    twin.control("PATCH", "/data", { entity_type: table, key, changes });

  test("a refused write names everything that is wrong, and stores nothing", async () => {
    const { table, key, rows, badChange } = twin.sample;
    const { child, parent } = relationOf(twin.sample);
    const before = await tablesOf(twin);
    const version = (await twin.control("GET", "/data")).body.state_version;
    const answer = await twin.control("POST", "/data", {
      data: {
        no_such_table: [{}],
        [table]: [rows[0], { ...rows[1], ...badChange }, { shoe: 1 }],
        [child.table === table ? "also_none" : child.table]: [{ ...child.row("none"), hat: 1 }],
      },
    });
    expect(answer.status).toBe(422);
    const places = answer.body.error.problems.map(
      (problem: { table: string; row?: number; column?: string }) =>
        `${problem.table} ${problem.row} ${problem.column}`,
    );
    expect(places).toEqual(
      expect.arrayContaining([
        "no_such_table undefined undefined",
        `${table} 1 ${Object.keys(badChange)[0]}`,
        `${table} 2 shoe`,
        `${child.table} 0 hat`,
      ]),
    );
    expect(await tablesOf(twin)).toEqual(before);
    expect((await twin.control("GET", "/data")).body.state_version).toBe(version);
    const broken = await twin.control("POST", "/data", {
      data: { [child.table]: [child.row("none")], [parent.table]: [parent.row, parent.row] },
    });
    expect(broken.status).toBe(422);
    expect(broken.body.error.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ table: child.table, row: 0, column: child.column, value: "none" }),
        expect.objectContaining({ table: parent.table, row: 1, column: parent.key }),
      ]),
    );
    expect(key).toBeDefined();
    expect(await tablesOf(twin)).toEqual(before);
  });

  test("a name that objects inherit is never taken for a table, a column or a parameter, nor passed over", async () => {
    const { table } = twin.sample;
    for (const name of ["__proto__", "constructor", "toString"]) {
      const one = JSON.parse(`{"${name}": "x"}`);
      const answers = [
        await twin.control("GET", `/data?entity_type=${table}&${name}=x`),
        await twin.control("GET", `/data?entity_type=${name}`),
        await twin.control("POST", "/data", { data: JSON.parse(`{"${name}": [{}]}`) }),
        await twin.control("POST", "/data", { data: { [table]: [one] } }),
        await twin.control("PATCH", "/data", { entity_type: table, where: one, changes: one }),
        await twin.control("DELETE", "/data", { entity_type: table, where: one }),
        await twin.control("POST", "/reset", { data: JSON.parse(`{"${name}": []}`) }),
        await twin.control("POST", "/reset", { profile: name }),
        await twin.control("POST", "/faults", { effect: name, all: true }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422));
    }
  });

  test("rows may refer to one another within one body, and adding them again is a 422", async () => {
    const { child, parent } = relationOf(twin.sample);
    const data = { [child.table]: [child.row(parent.row[parent.key])], [parent.table]: [parent.row] };
    expect((await twin.control("POST", "/data", { data })).status).toBe(201);
    const before = await tablesOf(twin);
    const again = await twin.control("POST", "/data", { data });
    expect(again.status).toBe(422);
    expect(again.body.error.problems).toHaveLength(2);
    expect(await tablesOf(twin)).toEqual(before);
  });

  test("a change that breaks a relationship names table, column, value and rule", async () => {
    const { child, parent } = relationOf(twin.sample);
    const row = child.row(parent.row[parent.key]);
    await twin.control("POST", "/data", { data: { [child.table]: [row], [parent.table]: [parent.row] } });
    const before = await tablesOf(twin);
    const answer = await change(child.table, row[child.key ?? "id"], child.change ?? {});
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toMatchObject([
      {
        table: child.table,
        column: child.column,
        value: "none",
        rule: expect.stringContaining(parent.table),
      },
    ]);
    const removal = await twin.control("DELETE", "/data", {
      entity_type: parent.table,
      key: parent.row[parent.key],
    });
    expect(removal.status).toBe(422);
    expect(removal.body.error.problems).toMatchObject([
      {
        table: parent.table,
        column: parent.key,
        value: parent.row[parent.key],
        rule: expect.stringContaining(`${child.table}.${child.column}`),
      },
    ]);
    expect(await tablesOf(twin)).toEqual(before);
    const keyChange = await change(parent.table, parent.row[parent.key], { [parent.key]: "other" });
    expect(keyChange.body.error.problems).toMatchObject([{ column: parent.key }]);
  });
});

function rowWith(twin: string, id: string, text: string, json: unknown): object {
  switch (twin) {
    case "engine":
      return { id, scenario: text, metadata: { [text]: json } };
    case "elasticsearch":
    case "splunk":
      return { _id: id, message: text, json: JSON.stringify(json) };
    case "postgres":
      return {
        name: `${id} ${text}`,
        description: `${text}${JSON.stringify(json).replaceAll("\\u0000", "")}`,
      };
    default:
      return { id: `${id} ${text}`, key_sha256: "0".repeat(64) };
  }
}

test("a key of several columns is an object of them, and a table without a key has rows selected with where", async () => {
  const twin = every.of("postgres");
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: twin.url });
  await client.connect();
  await client.query(`CREATE TABLE seats (room text, seat int, taken bool, PRIMARY KEY (room, seat));
    INSERT INTO seats VALUES ('a', 1, false), ('a', 2, false); CREATE TABLE lines (line text); INSERT INTO lines VALUES ('x'), ('x')`);
  await client.end();
  const seats = (await twin.control("GET", "/schema")).body.tables.find(
    (table: { name: string }) => table.name === "seats",
  );
  expect(seats.key_columns).toEqual(["room", "seat"]);
  const patch = (entity_type: string, key: unknown) =>
    twin.control("PATCH", "/data", { entity_type, key, changes: { taken: true } });
  expect((await patch("seats", { room: "a", seat: 2 })).body).toMatchObject({ updated: 1 });
  expect((await patch("seats", { room: "a", seat: 3 })).status).toBe(404);
  expect((await patch("seats", "a")).body.error.problems[0].rule).toContain("room, seat");
  expect((await patch("seats", { room: "a" })).status).toBe(422);
  expect((await patch("lines", "x")).body.error.problems[0].rule).toContain("where");
  const removed = await twin.control("DELETE", "/data", { entity_type: "lines", where: { line: "x" } });
  expect(removed.body).toMatchObject({ removed: 2 });
});

test("a change that breaks several rules of Postgres names each of them", async () => {
  const twin = every.of("postgres");
  const answer = await twin.control("PATCH", "/data", {
    entity_type: "incidents",
    key: "INC-1041",
    changes: { service: "none", severity: 9, status: "lost", title: "fine" },
  });
  expect(answer.status).toBe(422);
  expect(answer.body.error.problems.map(({ column }: { column: string }) => column).sort()).toEqual([
    "service",
    "severity",
    "status",
  ]);
});
