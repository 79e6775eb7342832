import { type WorldChange, WorldRefusal } from "@offhook/platform/world/world";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import { EventWorld } from "../../world/event-world.ts";
import { changeMembers } from "../../world/json-spans.ts";

let store: LogStore;
let world: EventWorld;
beforeEach(async () => {
  store = await openLogStore();
  world = new EventWorld({ store: async () => store, opened: () => store, index: "logs" });
});
afterEach(() => store.close());

const page = (where: Record<string, string> = {}) => world.rows("events", { where, limit: 100, offset: 0 });
const problemsOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof WorldRefusal)) throw new Error(`no refusal but ${error}`);
  return error.problems;
};

describe("events as rows", () => {
  test("with a value of another type are refused with the type that would be right", async () => {
    await world.insert({ events: [{ _id: "a", took: 5 }] });
    expect(await problemsOf(world.update("events", { _id: "a" }, { took: "soon" }))).toEqual([
      {
        table: "events",
        column: "took",
        value: "soon",
        rule: 'must be of type long, as the field is: For input string: "soon"',
      },
    ]);
  });

  test("has the version of the store, for writes of any origin", async () => {
    expect(world.stateVersion).toBe(0);
    await store.exclusively((writer) => writer.write([{ index: "logs", source: '{"a":1}' }]));
    expect(world.stateVersion).toBe(store.stateVersion);
    expect(world.stateVersion).toBeGreaterThan(0);
  });

  test("are added, filtered by any field's dotted name, changed and removed", async () => {
    const events = [
      { _id: "a", "@timestamp": "2026-01-31T09:00:00Z", http: { status: 503 }, tags: ["x", "y"], ok: false },
      { _id: "b", _index: "other", "@timestamp": "2026-01-31T09:00:01Z", http: { status: 200 }, tags: "y" },
    ];
    expect(await world.insert({ events })).toEqual({ events: 2 });
    expect(await world.counts()).toMatchObject({ events: 2 });
    const [first, second] = events;
    const stored = [
      { ...first, _index: "logs", _version: 1, _seq_no: 0 },
      { ...second, _version: 1, _seq_no: 1 },
    ];
    expect(await page()).toEqual({ rows: stored, total: 2 });
    for (const [column, value] of Object.entries({
      _id: "a",
      _index: "logs",
      "http.status": "503",
      tags: "x",
      ok: "false",
      "@timestamp": "2026-01-31T10:00:00+01:00",
    })) {
      expect(await page({ [column]: value }), column).toMatchObject({ rows: [{ _id: "a" }], total: 1 });
    }
    expect(await world.update("events", { "http.status": 503 }, { http: { status: 504 }, note: "n" })).toBe(
      1,
    );
    expect((await page({ note: "n" })).rows).toEqual([
      { ...first, http: { status: 504 }, note: "n", _index: "logs", _version: 2, _seq_no: 2 },
    ]);
    expect(await world.remove("events", { _index: "other" })).toBe(1);
    expect(await page()).toMatchObject({ total: 1 });
  });

  test("a refusal names every problem, and stores nothing", async () => {
    await world.insert({ events: [{ _id: "a", count: 1 }] });
    const before = await world.dump();
    const { stateVersion } = world;
    const problems = await problemsOf(
      world.insert({
        events: [
          { _id: "a", count: 2 },
          { _id: "b", count: "many" },
          { _id: "c" },
          { _id: "c" },
          5,
        ] as Record<string, unknown>[],
        hats: [{}],
        fields: [],
      }),
    );
    expect(problems.map(({ table, row, column }) => `${table} ${row} ${column}`).sort()).toEqual([
      "events 0 _id",
      "events 1 count",
      "events 3 _id",
      "events 4 undefined",
      "fields undefined undefined",
      "hats undefined undefined",
    ]);
    expect(
      await problemsOf(world.update("events", { _id: 5, shoe: 1 }, { count: "x", _id: "z" })),
    ).toMatchObject([
      { column: "_id", value: 5 },
      { column: "shoe" },
      { column: "_id", value: "z" },
      { column: "count", value: "x" },
    ]);
    expect(await world.dump()).toEqual(before);
    expect(world.stateVersion).toBe(stateVersion);
  });

  test("of a store that nobody opened are those of the baseline, to which a held state goes back", async () => {
    let opened: LogStore | undefined;
    const lazy = new EventWorld({
      store: async () => {
        opened = store;
        return store;
      },
      opened: () => opened,
      index: "logs",
    });
    const held = await lazy.hold();
    await held.restore();
    expect(opened).toBeUndefined();
    await lazy.insert({ events: [{ _id: "a" }] });
    await held.restore();
    await held.release();
    expect(await lazy.counts()).toMatchObject({ events: 0 });
  });

  test("a change through the store is announced to watchers of the world", async () => {
    const seen: WorldChange[] = [];
    const stop = world.watch((change) => seen.push(change));
    await world.insert({ events: [{ _id: "a", n: 1 }] });
    await store.writeEach([{ index: "logs", id: "a", source: '{"n":2}' }]);
    await store.remove([{ index: "logs", id: "a" }]);
    await store.reset();
    expect(seen.map(({ table, change, row }) => [table, change, row?.n])).toEqual([
      ["events", "insert", 1],
      ["events", "update", 2],
      ["events", "remove", 2],
      ["events", "reset", undefined],
      ["fields", "reset", undefined],
    ]);
    stop();
    await world.insert({ events: [{ n: 1 }] });
    expect(seen).toHaveLength(5);
  });
});

describe("a dump", () => {
  const name = fc.constantFrom("a", "b.c", "b.d", "e", "level", "@timestamp", "ü");
  const value = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(null, [], [null], "2026-01-31", { deep: { er: 1 } }, [{ x: 1 }, { x: 2, y: "z" }]),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  );
  const number = fc.constantFrom("12345678901234567", "1.0", "1e3", "-0", "5e-400", "0.10000000000000000001");
  const source = fc
    .record({
      members: fc.dictionary(name, value, { maxKeys: 5 }),
      number,
      spaces: fc.constantFrom("", " ", "\n"),
    })
    .map(({ members, number, spaces }) => {
      const text = JSON.stringify(members);
      return `${text.slice(0, -1)}${text === "{}" ? "" : ","}${spaces}"exact":${number}}`;
    });

  test("loaded again, gives the same rows, types and texts back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(source, { maxLength: 8 }), async (sources) => {
        await store.reset();
        await store.writeEach(
          sources.map((text, number) => ({ index: "logs", id: `${number % 5}`, source: text })),
        );
        const state = async (of: LogStore) => ({
          documents: (await of.byId(undefined, ["0", "1", "2", "3", "4"])).map(
            ({ row, ...document }) => document,
          ),
          fields: of.fields.all().map(({ name, type, multi }) => ({ name, type, multi })),
        });
        const dump = await world.dump();
        const before = await state(store);
        expect(JSON.parse(JSON.stringify(dump))).toEqual(dump);
        await world.load(JSON.parse(JSON.stringify(dump)));
        expect(await state(store)).toEqual(before);
        expect(await world.dump()).toEqual(dump);
      }),
      { numRuns: 20 },
    );
  });

  test("with an invalid row is refused as a whole", async () => {
    await world.insert({ events: [{ _id: "a", count: 1 }] });
    const dump = await world.dump();
    const bad = { ...dump, events: [...(dump.events ?? []), { _id: "b", count: "x" }, { _id: "a" }] };
    expect(await problemsOf(world.load(bad))).toMatchObject([{ row: 2, column: "_id" }]);
    expect(await problemsOf(world.load({ ...bad, events: bad.events.slice(0, 2) }))).toMatchObject([
      { row: 1, column: "count", value: "x" },
    ]);
    expect(await world.dump()).toEqual(dump);
  });

  test("a row whose members differ from its _source is refused", async () => {
    expect(await problemsOf(world.load({ events: [{ n: 2, _source: '{"n": 1}' }] }))).toMatchObject([
      { column: "n", value: 2 },
    ]);
    await world.load({ events: [{ n: 1, _source: '{"n": 1}' }] });
    expect((await page()).rows).toMatchObject([{ n: 1, _source: '{"n": 1}' }]);
  });
});

test("a changed member leaves the rest of the text as it was written", () => {
  const source = '{ "id": 12345678901234567890, "a": {"b": [1.0, {"c": "}"}], "d.e": 2}, "x": 1.0 }';
  expect(changeMembers(source, { x: 2, a: { d: { e: 3 }, f: "new" }, "a.b": null, g: { h: 1 } })).toBe(
    '{ "id": 12345678901234567890, "a": {"b": null, "d.e": 3,"f":"new"}, "x": 2 ,"g":{"h":1}}',
  );
  expect(changeMembers("{}", { "a.b": 1 })).toBe('{"a.b":1}');
});
