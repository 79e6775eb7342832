/**
 * What the code under test defines is part of a snapshot, and a reset that is given the snapshot brings it back.
 * Proves a part of twins/SECURITY.md.
 */

import { type Tables, WorldRefusal } from "@offhook/platform/world/world";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import type { PostgresTwin } from "../index.ts";
import type { ServerLease } from "../server/server.ts";
import { connect, startPostgresTwin } from "../testing/postgres-twin.ts";
import { readDefinitions } from "../world/definitions.ts";
import { startTwinForEachTest } from "./fresh-twin.ts";

let lease: ServerLease;
let twin: PostgresTwin;
let client: pg.Client;
startTwinForEachTest((fresh) => {
  ({ twin, client, lease } = fresh);
});

/** A snapshot crosses as JSON. */
const snapshot = async (): Promise<Tables> => JSON.parse(JSON.stringify(await twin.world.dump()));

/** Something of every kind that a snapshot holds, defined anew, on top of the start, and instead of it. */
const everyKind = `
  CREATE SCHEMA "Back office";
  CREATE TYPE "Back office".mood AS ENUM ('calm', 'it''s tense', '"quoted"');
  CREATE TYPE pair AS (a int, b text[]);
  CREATE DOMAIN positive AS numeric(8,2) DEFAULT 1 NOT NULL CONSTRAINT above_zero CHECK (VALUE > 0);
  CREATE SEQUENCE tickets_seq AS smallint INCREMENT BY 7 START WITH 14 MAXVALUE 700 CYCLE;
  CREATE FUNCTION next_ticket() RETURNS text LANGUAGE sql AS $$ SELECT 'T-' || nextval('public.tickets_seq') $$;
  CREATE TABLE "Back office".notes (
    id serial PRIMARY KEY, code bigint GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 5), number text UNIQUE DEFAULT next_ticket(),
    mood "Back office".mood DEFAULT 'calm', worth positive, two pair, "From" text COLLATE "C", tags text[] DEFAULT '{a,b}',
    twice int GENERATED ALWAYS AS (id * 2) STORED, during tstzrange, incident text REFERENCES incidents ON DELETE CASCADE,
    CONSTRAINT "no bad words" CHECK ("From" <> 'bad'), EXCLUDE USING gist (during WITH &&));
  COMMENT ON TABLE "Back office".notes IS 'What people wrote, in ''words''.';
  COMMENT ON COLUMN "Back office".notes."From" IS 'Who wrote it.';
  CREATE INDEX calm_ones ON "Back office".notes (lower("From") DESC) WHERE mood = 'calm';
  CREATE VIEW calm AS SELECT id, "From" FROM "Back office".notes WHERE mood = 'calm';
  CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM calm;
  CREATE UNLOGGED TABLE shouts (id int PRIMARY KEY, said text);
  CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.said := upper(NEW.said); RETURN NEW; END $f$;
  CREATE TRIGGER shout BEFORE INSERT ON shouts FOR EACH ROW EXECUTE FUNCTION shout();
  CREATE FUNCTION all_shouts() RETURNS SETOF shouts LANGUAGE sql AS 'SELECT * FROM public.shouts';
  CREATE TABLE parts (day date NOT NULL, n int) PARTITION BY RANGE (day);
  CREATE TABLE parts_2026 PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
  CREATE INDEX ON parts (n);
  CREATE TABLE base (a int); CREATE TABLE derived (b int) INHERITS (base);
  ALTER TABLE engineers ADD COLUMN email text UNIQUE, ALTER COLUMN phone DROP NOT NULL;
  ALTER TABLE incidents DROP CONSTRAINT incidents_severity_check;
  DROP TABLE on_call;
  COMMENT ON TABLE services IS 'Said otherwise.';`;
const fill = `
  INSERT INTO "Back office".notes (mood, worth, "From", incident) VALUES ('it''s tense', 2.5, 'Maya', 'INC-1041'), ('calm', 1, 'Priya', NULL);
  INSERT INTO shouts VALUES (1, 'hello'); INSERT INTO parts VALUES ('2026-03-02', 1); INSERT INTO derived VALUES (1, 2);
  UPDATE engineers SET email = name || '@example.com';
  INSERT INTO incidents (service, severity, title) VALUES ('search', 9, 'beyond the old rule')`;

async function definitions(): Promise<unknown> {
  const admin = new URL(lease.server.adminUrl);
  admin.pathname = new URL(twin.url).pathname;
  const own = await connect(admin.href);
  const found = await readDefinitions(own);
  await own.end();
  return found;
}

async function databases(): Promise<string[]> {
  await lease.server.copies.settle();
  const { rows } = await lease.server.query("SELECT datname FROM pg_database ORDER BY 1");
  return rows.map(({ datname }) => String(datname)).filter((name) => !name.startsWith("offhook_copy_"));
}

describe("a reset with a snapshot of one's own", () => {
  it("brings back everything that the code under test had defined, changed and dropped", async () => {
    await client.query(everyKind);
    await client.query(fill);
    const taken = await snapshot();
    const defined = await definitions();
    await twin.reset();
    expect(await twin.world.counts()).toMatchObject({ on_call: 4, pg_definitions: 0 });
    await twin.world.load(taken);
    expect(await definitions()).toEqual(defined);
    expect(await snapshot()).toEqual(taken);

    client = await connect(twin.url);
    const next = await client.query(
      `INSERT INTO "Back office".notes ("From") VALUES ('Jonas') RETURNING id, code, number, twice, worth`,
    );
    expect(next.rows).toEqual([{ id: 3, code: "110", number: "T-28", twice: 6, worth: "1.00" }]);
    await client.query("INSERT INTO shouts VALUES (2, 'again')");
    expect((await client.query("SELECT * FROM all_shouts() ORDER BY id")).rows).toEqual([
      { id: 1, said: "HELLO" },
      { id: 2, said: "AGAIN" },
    ]);
    await client.query('DROP TABLE "Back office".notes CASCADE'); // It is the code's own, as it was.
    await twin.world.counts(); // Whoever asks the world has been told of all that was before.
    const told = new Promise((resolve) => twin.world.watch(resolve));
    await client.query("INSERT INTO shouts VALUES (3, 'watched')");
    expect(await told).toMatchObject({ table: "shouts", change: "insert" });
    await client.end();
  });

  it("brings back a table that has been dropped since, and takes away one that has been made since", async () => {
    await client.query(
      "CREATE TABLE notes (id serial PRIMARY KEY, words text); INSERT INTO notes (words) VALUES ('x')",
    );
    const taken = await snapshot();
    await client.query("DROP TABLE notes; CREATE TABLE others (id int); DROP TABLE incidents CASCADE");
    await twin.world.load(taken);
    expect(await snapshot()).toEqual(taken);
    const start = { ...taken, pg_definitions: [], notes: [] };
    await expect(twin.world.load(start)).rejects.toMatchObject({ problems: [{ table: "notes" }, {}] });
    expect(await snapshot()).toEqual(taken);
  });

  it("ends no connection when the definitions are those that there are", async () => {
    await client.query("CREATE TABLE notes (id serial PRIMARY KEY, words text)");
    const taken = await snapshot();
    await client.query("INSERT INTO notes (words) VALUES ('gone soon')");
    await twin.world.load(taken);
    expect((await client.query("SELECT count(*)::int AS n FROM notes")).rows).toEqual([{ n: 0 }]);
    const { pg_definitions: _, ...handmade } = taken;
    await twin.world.load({ ...handmade, notes: [{ words: "by hand" }] });
    expect((await client.query("SELECT words FROM notes")).rows).toEqual([{ words: "by hand" }]);
  });

  it("works in another sandbox too", async () => {
    await client.query(everyKind);
    await client.query(fill);
    const taken = await snapshot();
    const other = await startPostgresTwin({ sandbox: "other" });
    await other.world.load(taken);
    expect(JSON.parse(JSON.stringify(await other.world.dump()))).toEqual(taken);
    await other.stop();
  });

  it("changes nothing when a definition or a row of it is refused, and may do no more than the code under test", async () => {
    await client.query("CREATE TABLE notes (id serial PRIMARY KEY, words text)");
    const taken = await snapshot();
    const version = twin.world.stateVersion;
    const left = await databases();
    for (const wrong of [
      [{ object: "table public.x", definition: "CREATE TABLE x (a nonsense)" }],
      [{ object: "table public.x", definition: "CREATE ROLE intruder SUPERUSER" }],
      [{ object: "table public.x", definition: "RESET ROLE; COPY (SELECT 1) TO PROGRAM 'true'" }],
      [{ object: "table public.x", definition: "COMMIT; DROP TABLE incidents CASCADE" }],
      [{ object: "table public.x", definition: 7 }],
      [{ object: "table public.x" }],
      [{ definition: null, shape: "round" }],
    ]) {
      const load = twin.world.load({ ...taken, pg_definitions: wrong });
      await expect(load, JSON.stringify(wrong)).rejects.toBeInstanceOf(WorldRefusal);
    }
    const rows = twin.world.load({
      ...taken,
      pg_definitions: [],
      incidents: [{ service: "nowhere" }],
      notes: [],
    });
    await expect(rows).rejects.toBeInstanceOf(WorldRefusal);
    expect(await snapshot()).toEqual(taken);
    expect(twin.world.stateVersion).toBe(version);
    expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    expect(await databases()).toEqual(left);
    const roles = await lease.server.query("SELECT rolname FROM pg_roles WHERE rolname = 'intruder'");
    expect(roles.rows).toEqual([]);
  });
});

describe("definitions", () => {
  it("are a table of the world that is read, and not written row by row", async () => {
    await client.query("CREATE TABLE notes (id int)");
    const page = await twin.world.rows("pg_definitions", {
      limit: 1,
      offset: 0,
      where: { object: "table public.notes" },
    });
    expect(page).toEqual({
      total: 1,
      rows: [{ object: "table public.notes", definition: "CREATE TABLE public.notes (id integer)" }],
    });
    const { world } = twin;
    for (const write of [
      () => world.insert({ pg_definitions: [{ object: "x", definition: "y" }] }),
      () => world.update("pg_definitions", { object: "table public.notes" }, { definition: "z" }),
      () => world.remove("pg_definitions", { object: "table public.notes" }),
    ]) {
      await expect(write()).rejects.toMatchObject({
        problems: [{ table: "pg_definitions", rule: expect.stringContaining("reset") }],
      });
    }
  });
});
