/** Lookup tables are rows of the world; what the store keeps of them is what they are when a search begins. */

import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { liveClock } from "@offhook/platform/base/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type LogQueryWorld, openWorld } from "../../world/open-world.ts";
import { type SplBench, splBench } from "../support/spl.ts";

let store: LogStore;
let world: LogQueryWorld;
let bench: SplBench;

const hosts = (owner: string) =>
  Array.from({ length: 200 }, (_, n) => ({ host: `h${n}`, owner: `${owner}${n}` }));

beforeEach(async () => {
  store = await openLogStore({ textIndex: "raw", fitting: "free" });
  world = openWorld({
    store: async () => store,
    opened: () => store,
    index: "main",
    clock: liveClock,
    jobResults: async () => undefined,
    rest: async () => undefined,
  });
  await world.seed();
  await world.world.insert({
    lookups: [{ name: "hosts.csv", fields: ["host", "owner"], rows: hosts("first") }],
    lookup_definitions: [{ name: "owners", filename: "hosts.csv" }],
  });
  bench = await splBench([{ host: "h7" }, { host: "h9" }, { host: "none" }], {
    store,
    knowledge: world.knowledge,
  });
});
afterEach(() => bench.close());

/** By the hash of values, by comparisons, as rows, and by the function. */
const searches = {
  exact: "search * | lookup hosts.csv host OUTPUT owner | sort host | table owner",
  compared: "search * | makemv host | lookup owners host OUTPUT owner | sort host | table owner",
  rows: "| inputlookup hosts.csv | search host=h7 OR host=h9 | table owner",
  function:
    'search * | sort host | eval owner=spath(lookup("hosts.csv", json_object("host", host), json_array("owner")), "owner") | table owner',
};

const owners = async (search: string) =>
  (await bench.search(search)).rows.flatMap(({ owner }) => owner ?? []);

test.each(Object.entries(searches))(
  "a lookup whose row is changed between two searches gives each what it was then: %s",
  async (_, search) => {
    expect(await owners(search)).toEqual(["first7", "first9"]);
    expect(await owners(search)).toEqual(["first7", "first9"]);
    world.tables.table("lookups").update("hosts.csv", { rows: hosts("second") });
    expect(await owners(search)).toEqual(["second7", "second9"]);
    await bench.search(`${searches.rows} | eval host="h7", owner="third" | outputlookup hosts.csv`);
    expect((await owners(search)).slice(0, 1)).toEqual(["third"]);
  },
);

test("a lookup's definition that is changed between two searches holds for the second", async () => {
  const search = "search host=h7 | eval host=upper(host) | lookup owners host OUTPUT owner | table owner";
  expect(await owners(search)).toEqual([]);
  world.tables.table("lookup_definitions").update("owners", { case_sensitive_match: false });
  expect(await owners(search)).toEqual(["first7"]);
});

test("a lookup's rows are not sent with every search", async () => {
  const { statements } = await bench.search(searches.exact);
  expect(statements.at(-1)).toMatch(/memory\.main\.cached_\d+/);
  expect((await bench.search(searches.exact)).statements).toEqual(statements);
});

test("a lookup is found after the store was put back", async () => {
  expect(await owners(searches.rows)).toEqual(["first7", "first9"]);
  await store.reset();
  expect(await owners(searches.rows)).toEqual(["first7", "first9"]);
});
