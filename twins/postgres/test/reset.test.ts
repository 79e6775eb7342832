import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createSandboxDatabase } from "../sandbox-database.ts";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { connect, silent, startOf, startPostgresTwin } from "../testing/postgres-twin.ts";
import { tables } from "../testing/tables.ts";
import { PostgresWorld } from "../world/postgres-world.ts";

let lease: ServerLease;
beforeAll(async () => {
  lease = await leaseServer(silent);
});
afterAll(() => lease.release());

async function databases(): Promise<string[]> {
  const { rows } = await lease.server.query("SELECT datname FROM pg_database ORDER BY 1");
  return rows.map(({ datname }) => String(datname));
}

async function roles(): Promise<string[]> {
  const { rows } = await lease.server.query("SELECT rolname FROM pg_roles ORDER BY 1");
  return rows.map(({ rolname }) => String(rolname));
}

/** A database of one table, whose world and makers a test can reach. */
async function openPets() {
  const recipe = {
    schema: "CREATE TABLE pets (name text PRIMARY KEY)",
    seed: "INSERT INTO pets VALUES ('Rex')",
  };
  const database = await createSandboxDatabase(lease.server, "pets", recipe);
  const world = await PostgresWorld.open(database.adminUrl, lease.server, startOf(database), silent);
  const name = new URL(database.adminUrl).pathname.slice(1);
  return { database, world, name };
}

describe("a reset", () => {
  it("puts a copy made ahead in the database's place, exactly as it was at the start", async () => {
    const twin = await startPostgresTwin();
    const start = await twin.world.dump();
    for (let round = 0; round < 5; round++) {
      const client = await connect(twin.url);
      const ended = new Promise((resolve) => client.once("end", resolve));
      await client.query("UPDATE incidents SET title = 'changed'; CREATE TABLE made_since (id int)");
      await twin.reset();
      await ended;
      expect(await twin.world.dump()).toEqual(start);
    }
    await twin.stop();
  });

  it("does not wait for those who connect again at once", async () => {
    const twin = await startPostgresTwin();
    const start = await twin.world.dump();
    let over = false;
    const comeBack = async () => {
      while (!over) {
        const client = await connect(twin.url).catch(() => undefined);
        await client?.query("INSERT INTO services VALUES (gen_random_uuid(), '')").catch(() => {});
        await client?.end().catch(() => {});
      }
    };
    const visitors = Array.from({ length: 4 }, comeBack);
    for (let round = 0; round < 8; round++) await twin.reset();
    over = true;
    await Promise.all(visitors);
    await twin.reset();
    expect(await twin.world.dump()).toEqual(start);
    await twin.stop();
  });

  it("beside other resets, writes and snapshots leaves none of them half done", async () => {
    const twin = await startPostgresTwin();
    const start = await twin.world.dump();
    const snapshots: Promise<void>[] = [];
    const work: Promise<unknown>[] = [];
    for (let round = 0; round < 6; round++) {
      work.push(twin.reset());
      const names = [`a${round}`, `b${round}`];
      work.push(twin.world.insert({ services: names.map((name) => ({ name, description: "" })) }));
      snapshots.push(
        twin.world.dump().then(({ services = [] }) => {
          const extra = services.map(({ name }) => String(name)).filter((name) => /^[ab]\d$/.test(name));
          for (const name of extra) expect(extra).toContain(`${name[0] === "a" ? "b" : "a"}${name[1]}`);
        }),
      );
    }
    await Promise.all([...work, ...snapshots]);
    await twin.reset();
    expect(await twin.world.dump()).toEqual(start);
    await twin.stop();
  });

  it("that cannot be prepared changes nothing, and ends no connection", async () => {
    const folder = await mkdtemp(join(tmpdir(), "offhook-test-"));
    const broken = join(folder, "broken.sql");
    await writeFile(broken, "INSERT INTO nowhere VALUES (1)");
    const twin = await startPostgresTwin({ config: { ...tables, profiles: { broken } } });
    const client = await connect(twin.url);
    await client.query("INSERT INTO services VALUES ('mail', 'Letters.')");
    await expect(twin.reset("broken")).rejects.toThrow(/nowhere/);
    expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    expect(await twin.world.counts()).toMatchObject({ services: 5 });
    await client.end();
    await twin.stop();
    await rm(folder, { recursive: true });
  });

  it("that cannot be put in place leaves the world on the database that is there", async () => {
    const { database, world } = await openPets();
    const { catalogue } = database;
    const putInPlace = () => Promise.reject(new Error("no room"));
    await expect(world.replaceDatabase({ catalogue, putInPlace })).rejects.toThrow("no room");
    expect(await world.counts()).toEqual({ pets: 1, pg_definitions: 0 });
    await world.close();
    await database.drop();
  });

  it("makes the database anew even when somebody has removed it", async () => {
    const { database, world, name } = await openPets();
    await lease.server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await world.replaceDatabase(await database.replacement());
    expect(await world.counts()).toEqual({ pets: 1, pg_definitions: 0 });
    await world.close();
    await database.drop();
  });

  it("shows a table that was made before the world has looked", async () => {
    const { database, world } = await openPets();
    const { catalogue, putInPlace } = await database.replacement();
    await world.replaceDatabase({
      catalogue,
      putInPlace: async () => {
        await putInPlace();
        const client = await connect(database.url);
        await client.query("CREATE TABLE toys (name text)");
        await client.end();
      },
    });
    expect(await world.counts()).toEqual({ pets: 1, toys: 0, pg_definitions: 1 });
    await world.close();
    await database.drop();
  });
});

describe("a stop", () => {
  afterEach(() => {
    delete process.env.DATABASE_SERVER_URL;
  });

  it("takes every step although the database could not be opened after a reset", async () => {
    const before = await roles();
    const twin = await startPostgresTwin({ sandbox: "lost" });
    const name = new URL(twin.url).pathname.slice(1);
    const { catalogue } = await lease.server.templates.of({ schema: "", seed: "" });
    const reset = twin.world.replaceDatabase({
      catalogue,
      putInPlace: async () => void (await lease.server.query(`DROP DATABASE ${name} WITH (FORCE)`)),
    });
    await expect(reset).rejects.toMatchObject({ cause: { code: "3D000" } });
    await twin.stop();
    expect(await roles()).toEqual(before);
  });

  it("leaves nothing of the sandbox on a shared server but copies for the next one", async () => {
    const twin = await startPostgresTwin({ sandbox: "gone" });
    await Promise.all([twin.reset(), twin.reset(), twin.reset()]);
    await twin.stop();
    const left = (await databases()).filter((name) => /^(gone|offhook_old)_/.test(name));
    expect(left).toEqual([]);
  });

  it("leaves no database and no role on the server that DATABASE_SERVER_URL names", async () => {
    await lease.server.copies.settle(); // Those of the embedded server, which is the one named here.
    const before = { databases: await databases(), roles: await roles() };
    process.env.DATABASE_SERVER_URL = lease.server.adminUrl;
    const twin = await startPostgresTwin({ sandbox: "elsewhere" });
    await twin.reset();
    await Promise.all([twin.reset(), twin.reset()]);
    expect(await databases()).not.toEqual(before.databases);
    await twin.stop();
    expect({ databases: await databases(), roles: await roles() }).toEqual(before);
  });
});
