/** How a database differs from its start, read from a copy of that. */
import { DifferenceUnknown } from "@offhook/platform/world/world";
import type pg from "pg";
import { expect, it } from "vitest";
import type { PostgresTwin } from "../index.ts";
import { startTwinForEachTest } from "./fresh-twin.ts";

let twin: PostgresTwin;
let client: pg.Client;

startTwinForEachTest((fresh) => {
  ({ twin, client } = fresh);
});

async function differences() {
  const { rows } = await twin.world.difference();
  return rows.map(({ table, difference, key }) => [table, difference, key]);
}

it("has what any client wrote, and nothing of what it wrote back", async () => {
  expect(await differences()).toEqual([]);
  await client.query("INSERT INTO services (name, description) VALUES ('mail', 'Letters.')");
  await client.query("UPDATE services SET description = 'x' WHERE name = 'mail'");
  await client.query("INSERT INTO services (name, description) VALUES ('gone', 'x')");
  await client.query("DELETE FROM services WHERE name = 'gone'");
  const [row, ...others] = (await twin.world.difference()).rows;
  expect(row).toEqual({
    table: "services",
    difference: "added",
    key: { name: "mail" },
    after: expect.objectContaining({ name: "mail", description: "x" }),
  });
  expect(others).toEqual([]);
  const [first] = (await twin.world.rows("services", { limit: 1, offset: 0, where: {} })).rows;
  await client.query("UPDATE services SET description = 'changed' WHERE name = $1", [first?.name]);
  const changed = (await twin.world.difference()).rows.find(({ difference }) => difference === "changed");
  expect(changed).toMatchObject({ before: first, after: { ...first, description: "changed" } });
});

it("has tables that a client made, with the rows of one without a key", async () => {
  await client.query("CREATE TABLE marks (n integer); INSERT INTO marks VALUES (1), (1), (2)");
  const found = await differences();
  expect(found.filter(([table]) => table === "marks")).toEqual([
    ["marks", "added", {}],
    ["marks", "added", {}],
    ["marks", "added", {}],
  ]);
  expect(found.map(([table]) => table)).toContain("pg_definitions");
});

it("is none after a reset, and unknown after a load of given rows", async () => {
  await client.query("INSERT INTO services (name, description) VALUES ('mail', 'Letters.')");
  const tables = await twin.world.dump();
  await twin.reset();
  expect(await differences()).toEqual([]);
  await twin.world.load(tables);
  await expect(twin.world.difference()).rejects.toThrow(DifferenceUnknown);
  await twin.reset();
  expect(await differences()).toEqual([]);
});

it("is not made of a database that is too large", async () => {
  await client.query("CREATE TABLE numbers AS SELECT generate_series(1, 20001) AS n");
  await expect(twin.world.difference()).rejects.toThrow(/is compared up to 20000 rows/);
});
