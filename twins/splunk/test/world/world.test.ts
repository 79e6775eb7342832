/** The events and the tables of a log-query twin are one world. */

import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { liveClock } from "@offhook/platform/base/clock";
import { holdState } from "@offhook/platform/world/state-source";
import { type Problem, type WorldChange, WorldRefusal } from "@offhook/platform/world/world";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LogQueryWorld, openWorld } from "../../world/open-world.ts";

let store: LogStore;
let opened: LogQueryWorld;
beforeEach(async () => {
  store = await openLogStore({ fitting: "free" });
  opened = openWorld({
    store: async () => store,
    opened: () => store,
    index: "main",
    clock: liveClock,
    jobResults: async () => undefined,
    rest: async () => undefined,
  });
  await opened.seed();
});
afterEach(() => store.close());

const event = { _id: "1", _time: "2026-01-15T12:00:00Z", message: "disk is full" };
const macro = { name: "errors", definition: "level=error" };

async function problemsOf(write: Promise<unknown>): Promise<Problem[]> {
  const error = await write.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof WorldRefusal)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error.problems;
}

describe("what is written to events and tables at once", () => {
  test("is written to both, and counted", async () => {
    const added = await opened.world.insert({ events: [event], macros: [macro] });
    expect(added).toEqual({ events: 1, macros: 1 });
    expect(await opened.world.counts()).toMatchObject({ events: 1, macros: 1, users: 1 });
  });

  test("is written to neither when something speaks against one of them; every problem is named", async () => {
    const before = { tables: await opened.world.dump(), version: opened.world.stateVersion };
    const wrong = { events: [event, { _id: "" }], macros: [macro, { name: "x" }], nothing: [{}] };
    const problems = await problemsOf(opened.world.insert(wrong));
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ table: "events", row: 1, column: "_id" }),
        expect.objectContaining({ table: "macros", row: 1, column: "definition" }),
        expect.objectContaining({ table: "nothing", rule: expect.stringContaining("hec_tokens") }),
      ]),
    );
    expect(await problemsOf(opened.world.insert({ macros: [{}], nothing: [] }))).toHaveLength(3);
    await problemsOf(opened.world.load(wrong));
    await problemsOf(opened.world.load({ events: [event], macros: [{}] }));
    expect({ tables: await opened.world.dump(), version: opened.world.stateVersion }).toEqual(before);
  });

  test("is taken back from the events when a table was changed meanwhile", async () => {
    const insert = opened.world.insert({ events: [event], macros: [macro] });
    // The events are being written when somebody else adds the same macro.
    const unwatch = store.watch(() => {
      unwatch();
      opened.tables.table("macros").insert(macro);
    });
    expect(await problemsOf(insert)).toMatchObject([{ table: "macros", column: "name" }]);
    expect(await opened.world.counts()).toMatchObject({ events: 0, macros: 1 });
  });

  test("a whole state goes back as it came", async () => {
    await opened.world.insert({ events: [event], macros: [macro] });
    const dump = await opened.world.dump();
    await opened.world.load({});
    expect(await opened.world.counts()).toMatchObject({ events: 0, macros: 0, users: 0 });
    await opened.world.load(dump);
    expect(await opened.world.dump()).toEqual(dump);
  });

  test("a held state comes back, events and tables", async () => {
    await opened.world.insert({ events: [event], macros: [macro] });
    const dump = await opened.world.dump();
    const held = await holdState(opened.world, 0);
    await opened.world.load({});
    await held.restore();
    await held.release();
    expect(await opened.world.dump()).toEqual(dump);
  });
});

test("a watcher hears of both, under versions that grow", async () => {
  const heard: WorldChange[] = [];
  const unwatch = opened.world.watch((change) => heard.push(change));
  await opened.world.insert({ macros: [macro] });
  await opened.world.insert({ events: [event] });
  await opened.world.update("macros", { name: "errors" }, { iseval: true });
  await opened.world.remove("events", { _id: "1" });
  unwatch();
  await opened.world.remove("macros", { name: "errors" });
  expect(heard.map(({ table, change }) => `${change} ${table}`)).toEqual([
    "insert macros",
    "insert events",
    "update macros",
    "remove events",
  ]);
  const versions = heard.map(({ stateVersion }) => stateVersion);
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
  expect(new Set(versions).size).toBe(4);
});

describe("knowledge objects are rows", () => {
  test("macros are found by name and number of arguments", async () => {
    const two = { name: "between(2)", args: ["a", "b"], definition: "x>$a$ x<$b$" };
    await opened.world.insert({ macros: [macro, two] });
    expect(opened.knowledge.macro("errors", 0)).toMatchObject({ definition: "level=error", isEval: false });
    expect(opened.knowledge.macro("between", 2)).toMatchObject({ args: ["a", "b"] });
    expect(opened.knowledge.macro("between", 1)).toBeUndefined();
    expect(
      await problemsOf(opened.world.insert({ macros: [{ name: "a(b)", definition: "" }] })),
    ).toHaveLength(1);
  });

  test("lookups are found by definition, file, and file without its ending; empty cells are missing", async () => {
    await opened.world.insert({
      lookups: [{ name: "hosts.csv", fields: ["host", "owner"], rows: [{ host: "a", owner: "" }] }],
      lookup_definitions: [{ name: "owners", filename: "hosts.csv", case_sensitive_match: false }],
    });
    const rows = [["a", null]];
    for (const name of ["hosts", "hosts.csv"]) {
      expect(await opened.knowledge.lookup(name)).toEqual({ fields: expect.any(Array), rows });
    }
    expect(await opened.knowledge.lookup("owners")).toMatchObject({
      rows,
      definition: { caseSensitive: false },
    });
    expect(await opened.knowledge.lookup("none")).toBeUndefined();
  });

  test("a lookup that is written is a row; what is appended keeps its columns and adds new ones", async () => {
    const text = (name: string) => ({ name, type: "text", multi: false }) as const;
    const { knowledge, tables } = opened;
    await knowledge.writeLookup("hosts", { fields: [text("host")], rows: [["a"]] }, "replace");
    await knowledge.writeLookup("hosts", { fields: [text("n")], rows: [[["1", "2"]]] }, "append");
    const stored = { fields: ["host", "n"], rows: [{ host: "a" }, { n: "1\n2" }] };
    expect(tables.table("lookups").get("hosts.csv")).toMatchObject(stored);
    await knowledge.writeLookup("hosts.csv", { fields: [text("b")], rows: [] }, "replace");
    expect(tables.table("lookups").get("hosts.csv")).toMatchObject({ fields: ["b"], rows: [] });
    await knowledge.removeLookup("hosts");
    expect(tables.table("lookups").size).toBe(0);
  });

  test("tags, event types, data models, saved searches", async () => {
    await opened.world.insert({
      tags: [
        { name: "host=web=1", tags: ["front"] },
        { name: "host=db", tags: ["back", "front"] },
      ],
      event_types: [
        { name: "failures", search: "level=error" },
        { name: "off", search: "x", disabled: true },
      ],
      data_models: [{ name: "Web", objects: [{ name: "Web", fields: { src: "client" } }] }],
      saved_searches: [{ name: "late", search: "index=main", earliest_time: "-1h" }],
    });
    const { knowledge } = opened;
    expect(knowledge.tagged("front")).toEqual([
      { field: "host", value: "web=1" },
      { field: "host", value: "db" },
    ]);
    expect(knowledge.tagsOf("host", "db")).toEqual(["back", "front"]);
    expect(knowledge.eventType("failures")).toBe("level=error");
    expect(knowledge.eventType("off")).toBeUndefined();
    expect(knowledge.eventTypes()).toEqual(["failures"]);
    expect(knowledge.tagged("ba*")).toEqual([{ field: "host", value: "db" }]);
    expect(knowledge.dataModel("Web")).toEqual([
      { model: "Web", object: "Web", constraint: "", fields: { src: "client" } },
    ]);
    expect(knowledge.savedSearch("late")).toMatchObject({ earliest: "-1h", latest: undefined });
  });

  test("events that a search collects are events of the index it names, which has to be there", async () => {
    const { knowledge, world } = opened;
    const timeMs = Date.UTC(2026, 0, 15, 12);
    await knowledge.collect([
      { raw: "n=5", timeMs, fields: { index: "summary", source: "nightly", n: "5" } },
    ]);
    const { rows } = await world.rows("events", { limit: 10, offset: 0, where: { n: "5" } });
    expect(rows).toMatchObject([{ _index: "summary", _raw: "n=5", source: "nightly", sourcetype: "stash" }]);
    const elsewhere = knowledge.collect([{ raw: "x", timeMs, fields: { index: "nowhere" } }]);
    await expect(elsewhere).rejects.toThrow("'nowhere'");
    expect(await knowledge.indexes()).toEqual(expect.arrayContaining(["main", "summary", "_internal"]));
  });
});
