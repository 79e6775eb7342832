import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { connect, silent, startPostgresTwin } from "../testing/postgres-twin.ts";

let lease: ServerLease;
let folder: string;

beforeAll(async () => {
  lease = await leaseServer(silent);
  folder = await mkdtemp(join(tmpdir(), "offhook-database-test-"));
  await writeFile(join(folder, "schema.sql"), "CREATE TABLE pets (name text PRIMARY KEY);");
  await writeFile(join(folder, "cats.sql"), "INSERT INTO pets VALUES ('Tom');");
  await writeFile(join(folder, "broken.sql"), "SELECT 1;\nINSERT INTO pest VALUES ('Tom');");
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await lease.release();
});

const start = (config: object) => startPostgresTwin({ config, resolvePath: (path) => join(folder, path) });

describe("the config of the service postgres", () => {
  it("names SQL files of one's own, and profiles that a reset may choose", async () => {
    const twin = await start({ SCHEMA_PATH: "schema.sql", profiles: { cats: "cats.sql" } });
    const pets = () => twin.world.counts();
    expect(await pets()).toMatchObject({ pets: 0 });
    await twin.reset("cats");
    expect(await pets()).toMatchObject({ pets: 1 });
    const client = await connect(twin.url);
    expect((await client.query("SELECT name FROM pets")).rows).toEqual([{ name: "Tom" }]);
    await client.end();
    await twin.reset();
    expect(await pets()).toMatchObject({ pets: 0 });
    await twin.stop();
  });

  it.each(["the embedded server", "a server of one's own"])(
    "gives two fresh sandboxes on %s the same content, whatever the seed makes up",
    async (server) => {
      await writeFile(
        join(folder, "made-up.sql"),
        "INSERT INTO pets SELECT clock_timestamp() || ' ' || gen_random_uuid() || ' ' || random() FROM generate_series(1, 3);",
      );
      if (server !== "the embedded server") process.env.DATABASE_SERVER_URL = lease.server.adminUrl;
      try {
        const config = { SCHEMA_PATH: "schema.sql", SEED_PATH: "made-up.sql" };
        const one = await start(config);
        const two = await start(config);
        const content = await one.world.dump();
        expect(content.pets).toHaveLength(3);
        expect(await two.world.dump()).toEqual(content);
        expect(two.world.stateVersion).toBe(one.world.stateVersion);
        await one.reset();
        expect(await one.world.dump()).toEqual(content);
        await Promise.all([one.stop(), two.stop()]);
      } finally {
        delete process.env.DATABASE_SERVER_URL;
      }
    },
  );

  it("is told where its SQL is wrong, and then leaves no database behind", async () => {
    const databases = async () => (await lease.server.query("SELECT count(*) FROM pg_database")).rows;
    await lease.server.copies.settle();
    const before = await databases();
    await expect(start({ SCHEMA_PATH: "schema.sql", SEED_PATH: "broken.sql" })).rejects.toThrow(
      'The seed SQL of the postgres twin does not run, line 2: relation "pest" does not exist',
    );
    expect(await databases()).toEqual(before);
  });

  it("is refused when it has a member nobody knows", async () => {
    await expect(async () => start({ scheme: "schema.sql" })).rejects.toThrow(/scheme/);
  });
});
