import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandboxDatabase, type SandboxDatabase } from "../sandbox-database.ts";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { databaseUrl } from "../server/templates.ts";
import { connect, silent, startOf } from "../testing/postgres-twin.ts";
import { PostgresWorld } from "../world/postgres-world.ts";

/** A server of somebody else's, where our role may make databases and nothing more. */
describe("a server on which the twin is no superuser", () => {
  let embedded: ServerLease;
  let lease: ServerLease;
  let database: SandboxDatabase;
  let world: PostgresWorld;
  let client: pg.Client;

  beforeAll(async () => {
    embedded = await leaseServer(silent);
    const login = { name: "plain", password: "plain-password" };
    await embedded.server.query(
      `CREATE ROLE plain LOGIN CREATEDB PASSWORD '${login.password}'; GRANT CONNECT ON DATABASE postgres TO plain`,
    );
    lease = await leaseServer(silent, databaseUrl(embedded.server.adminUrl, "postgres", login));
    const recipe = {
      schema:
        "CREATE TABLE owners (id int PRIMARY KEY); CREATE TABLE pets (id serial PRIMARY KEY, owner int REFERENCES owners)",
      seed: "INSERT INTO owners VALUES (1)",
    };
    database = await createSandboxDatabase(lease.server, "dev", recipe);
    world = await PostgresWorld.open(database.adminUrl, lease.server, startOf(database), silent);
    client = await connect(database.url);
  });
  afterAll(async () => {
    await client.end();
    await world.close();
    await database.drop();
    await lease.release();
    await embedded.release();
  });

  it("serves a world that code under test and control plane share", async () => {
    await client.query("INSERT INTO pets (owner) VALUES (1)");
    expect(await world.rows("pets", { limit: 10, offset: 0, where: {} })).toEqual({
      total: 1,
      rows: [{ id: 1, owner: 1 }],
    });
    await world.insert({ pets: [{ owner: 2 }], owners: [{ id: 2 }] });
    expect(await world.counts()).toMatchObject({ owners: 2, pets: 2 });
  });

  it("takes in tables made later, from the next look on", async () => {
    await client.query("CREATE TABLE toys (name text)");
    expect(await world.counts()).toMatchObject({ toys: 0 });
    const version = world.stateVersion;
    await client.query("INSERT INTO toys VALUES ('ball')");
    expect(await world.counts()).toMatchObject({ toys: 1 });
    expect(world.stateVersion).toBe(version + 1);
  });

  it("gives a snapshot back and is made anew by a reset", async () => {
    const snapshot = await world.dump();
    await client.query("DELETE FROM pets");
    await world.load(snapshot);
    expect(await world.dump()).toEqual(snapshot);
    await world.replaceDatabase(await database.replacement());
    expect(await world.counts()).toMatchObject({ owners: 1, pets: 0 });
    expect(await world.counts()).not.toHaveProperty("toys");
  });
});
