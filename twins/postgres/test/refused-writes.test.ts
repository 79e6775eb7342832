/** Of a write that is refused nothing remains: no row, no number of a sequence, no state version. */

import { type Tables, WorldRefusal } from "@offhook/platform/world/world";
import fc from "fast-check";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import type { PostgresTwin } from "../index.ts";
import { connect } from "../testing/postgres-twin.ts";
import { startTwinForEachTest } from "./fresh-twin.ts";

let twin: PostgresTwin;
let client: pg.Client;
startTwinForEachTest((fresh) => {
  ({ twin, client } = fresh);
});

/** Everything that a refused write could have left behind. */
async function everything() {
  const { rows } = await client.query(
    "SELECT schemaname, sequencename FROM pg_sequences WHERE schemaname = 'public' ORDER BY 2",
  );
  const positions: unknown[] = [];
  for (const { schemaname, sequencename } of rows) {
    const { rows: position } = await client.query(
      `SELECT last_value, is_called FROM "${schemaname}"."${sequencename}"`,
    );
    positions.push(sequencename, position);
  }
  return { tables: await twin.world.dump(), positions, version: twin.world.stateVersion };
}

const open = "INSERT INTO incidents (service, severity, title) VALUES ('search', 3, 'x') RETURNING id";

/** Tables whose numbers are taken in every way there is, and whose rules are broken in every way there is. */
const manyWays = `
  CREATE TABLE parts (id serial PRIMARY KEY, code bigint GENERATED ALWAYS AS IDENTITY, name text UNIQUE, whole int REFERENCES parts);
  CREATE SEQUENCE ticket_number INCREMENT BY 7 CACHE 5;
  CREATE FUNCTION next_ticket() RETURNS text LANGUAGE sql AS $$ SELECT 'T-' || nextval('ticket_number') $$;
  CREATE TABLE tickets (id text PRIMARY KEY DEFAULT next_ticket(), during int4range, EXCLUDE USING gist (during WITH &&));
  CREATE SEQUENCE few MAXVALUE 3;
  CREATE TABLE scarce (n int PRIMARY KEY DEFAULT nextval('few'), words text CHECK (words <> 'bad'));
  CREATE TABLE audit (id bigserial PRIMARY KEY, what text);
  CREATE TABLE audited (id int PRIMARY KEY, state text NOT NULL);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO audit (what) VALUES (TG_OP);
    IF TG_OP <> 'DELETE' AND NEW.state = 'bad' OR TG_OP = 'DELETE' AND OLD.state = 'kept' THEN RAISE EXCEPTION 'not allowed'; END IF;
    RETURN coalesce(NEW, OLD); END $$;
  CREATE TRIGGER note BEFORE INSERT OR UPDATE OR DELETE ON audited FOR EACH ROW EXECUTE FUNCTION note();
  CREATE TABLE later (id serial PRIMARY KEY, part int REFERENCES parts DEFERRABLE INITIALLY DEFERRED);`;

const few = fc.integer({ min: 0, max: 4 });
const words = fc.constantFrom("bad", "good", "a", "b");
const rows: Record<string, fc.Arbitrary<object>> = {
  incidents: fc.record(
    {
      service: fc.constantFrom("search", "payments", "nowhere"),
      severity: fc.constantFrom(1, 2, 9, "high"),
      title: fc.constantFrom("fine", ""),
      colour: fc.constant("red"),
    },
    { requiredKeys: ["service", "title"] },
  ),
  parts: fc.record({ name: words, whole: few }, { requiredKeys: [] }),
  tickets: fc.record({ during: few.map((n) => `[${n},${n + 2})`), id: words }, { requiredKeys: [] }),
  scarce: fc.record({ words }, { requiredKeys: [] }),
  audited: fc.record({ id: few, state: fc.constantFrom("bad", "kept", "free") }),
  later: fc.record({ part: few }, { requiredKeys: [] }),
  engineers: fc.record({ name: words, phone: fc.oneof(words, fc.constant(null)) }),
};
const tables = fc
  .dictionary(fc.constantFrom(...Object.keys(rows)), fc.constant(0), { minKeys: 1, maxKeys: 3 })
  .chain((chosen) =>
    fc.record(
      Object.fromEntries(
        Object.keys(chosen).map((name) => [
          name,
          fc.array(rows[name] ?? fc.constant({}), { minLength: 1, maxLength: 4 }),
        ]),
      ),
    ),
  ) as fc.Arbitrary<Tables>;
const position = fc.record({
  sequence: fc.constantFrom("few", "incident_number", "ticket_number", "parts_id_seq", "none"),
  last_value: fc.constantFrom(0, 2, 9, "9223372036854775807", "many"),
  is_called: fc.boolean(),
});

type Write = (world: PostgresTwin["world"]) => Promise<unknown>;
const write: fc.Arbitrary<[string, Write]> = fc.oneof(
  tables.map((data): [string, Write] => [`insert ${JSON.stringify(data)}`, (world) => world.insert(data)]),
  fc.tuple(tables, fc.array(position, { maxLength: 4 })).map(([data, positions]): [string, Write] => {
    const all = { ...data, pg_sequences: positions.map((one) => ({ ...one })) };
    return [`load ${JSON.stringify(all)}`, (world) => world.load(all)];
  }),
  fc
    .constantFrom("bad", "free", 7)
    .map((state): [string, Write] => [`update ${state}`, (world) => world.update("audited", {}, { state })]),
  fc.constant<[string, Write]>(["remove", (world) => world.remove("audited", {})]),
  fc
    .constantFrom(0, 1, 2, 5, 99, "many")
    .map((last_value): [string, Write] => [
      `move ${last_value}`,
      (world) => world.update("pg_sequences", {}, { last_value }),
    ]),
);

describe("a refused write", () => {
  it("does not change which number the code under test gets next", async () => {
    const bad = { service: "search", severity: 9, title: "refused by a check" };
    const good = { service: "search", severity: 1, title: "taken back with it" };
    await expect(twin.world.insert({ incidents: [good, bad, good] })).rejects.toThrow(WorldRefusal);
    expect((await client.query(open)).rows).toEqual([{ id: "INC-1042" }]);
    const { pg_sequences: _, ...start } = await twin.world.dump();
    const refused = { ...start, incidents: [good, { ...good, id: "INC-1" }, bad] };
    await expect(twin.world.load(refused)).rejects.toThrow(WorldRefusal);
    expect((await client.query(open)).rows).toEqual([{ id: "INC-1043" }]);
    await twin.world.insert({ incidents: [good] });
    expect((await client.query(open)).rows).toEqual([{ id: "INC-1045" }]);
  });

  it("leaves nothing behind, whatever it was and why ever it was refused", async () => {
    await client.query(manyWays);
    let [refused, accepted] = [0, 0];
    await fc.assert(
      fc.asyncProperty(write, async ([, work]) => {
        const before = await everything();
        const outcome = await work(twin.world).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (outcome === undefined) {
          accepted++;
          return;
        }
        refused++;
        expect(outcome).toBeInstanceOf(WorldRefusal);
        expect(await everything()).toEqual(before);
      }),
      { numRuns: 250 },
    );
    expect(refused).toBeGreaterThan(50);
    expect(accepted).toBeGreaterThan(5);
  });

  it("takes no number from the code under test, whose inserts go on meanwhile without a gap or a failure", async () => {
    let over = false;
    const ids: string[] = [];
    const keepInserting = async () => {
      const own = await connect(twin.url);
      while (!over) ids.push((await own.query(open)).rows[0].id);
      await own.end();
    };
    const inserting = Array.from({ length: 3 }, keepInserting);
    const good = { service: "search", severity: 1, title: "x" };
    for (let round = 0; round < 40; round++) {
      const refusal = twin.world.insert({ incidents: [good, good, { ...good, service: "nowhere" }] });
      await expect(refusal).rejects.toThrow(WorldRefusal);
    }
    over = true;
    await Promise.all(inserting);
    const numbers = ids.map((id) => Number(id.slice(4))).sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, i) => 1042 + i));
    expect(numbers.length).toBeGreaterThan(3);
  });

  it("is refused, and another done, although a transaction that stays open has taken a number", async () => {
    await client.query("BEGIN");
    expect((await client.query(open)).rows).toEqual([{ id: "INC-1042" }]);
    const good = { service: "search", severity: 1, title: "x" };
    const refusal = twin.world.insert({ incidents: [good, { ...good, service: "nowhere" }] });
    await expect(refusal).rejects.toMatchObject({ problems: [{ row: 1, column: "service" }] });
    expect(await twin.world.insert({ incidents: [good] })).toEqual({ incidents: 1 });
    expect((await client.query(open)).rows).toEqual([{ id: "INC-1044" }]);
    await client.query("COMMIT");
    expect(await twin.world.counts()).toMatchObject({ incidents: 6 });
  });

  it("is not paid for by a transaction of the code under test that waits for it in turn", async () => {
    await client.query("BEGIN; UPDATE services SET description = 'held' WHERE name = 'search'");
    // The insert holds the sequence and waits for the row; the transaction holds the row and asks for a number.
    const insert = twin.world.insert({
      services: [{ name: "mail", description: "x" }],
      incidents: [{ service: "search", severity: 1, title: "x" }],
    });
    insert.catch(() => {});
    await client.query(
      "DELETE FROM on_call WHERE service = 'search'; UPDATE services SET name = 'search' WHERE name = 'search'",
    );
    expect((await client.query(open)).rows).toHaveLength(1);
    await client.query("COMMIT");
    expect(await insert).toEqual({ services: 1, incidents: 1 });
  });

  it("says which column of pg_sequences it cannot take", async () => {
    const where = { sequence: "incident_number" };
    const { world } = twin;
    await expect(world.update("pg_sequences", where, { last_value: -5 })).rejects.toMatchObject({
      problems: [{ table: "pg_sequences", column: "last_value", value: "-5" }],
    });
    await expect(world.update("pg_sequences", where, { colour: "red" })).rejects.toMatchObject({
      problems: [{ table: "pg_sequences", column: "colour" }],
    });
    await expect(world.update("pg_sequences", { size: 1 }, { last_value: 5 })).rejects.toMatchObject({
      problems: [{ table: "pg_sequences", column: "size" }],
    });
    await expect(world.update("pg_sequences", where, { sequence: "other" })).rejects.toMatchObject({
      problems: [{ table: "pg_sequences", column: "sequence" }],
    });
  });
});
