import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Copies, createCopies } from "../server/copies.ts";
import { leaseServer, type ServerLease } from "../server/server.ts";
import type { Template } from "../server/templates.ts";

let lease: ServerLease;
let template: Template;
let warnings: string[];
let copies: Copies | undefined;
/** Statements that contain this fail, as they do when the server has no room or is being stopped. */
let failing: string | undefined;

beforeAll(async () => {
  lease = await leaseServer(pino({ level: "silent" }));
  template = await lease.server.templates.of({ schema: "CREATE TABLE pets (name text)", seed: "" });
});
afterAll(() => lease.release());
afterEach(async () => {
  failing = undefined;
  await copies?.settle();
  await copies?.dropAll();
  expect(await copyNames()).toEqual([]);
});

function start(): Copies {
  warnings = [];
  const log = pino({ level: "warn" }, { write: (line: string) => warnings.push(JSON.parse(line).msg) });
  const query = async (statement: string) => {
    if (failing !== undefined && statement.includes(failing)) throw new Error("no room");
    return lease.server.query(statement);
  };
  copies = createCopies({ ...lease.server, copyStrategy: "FILE_COPY", query }, log);
  return copies;
}

async function copyNames(): Promise<string[]> {
  const { rows } = await lease.server.query(
    "SELECT datname FROM pg_database WHERE datname LIKE 'offhook\\_copy\\_%'",
  );
  return rows.map(({ datname }) => String(datname));
}

describe("copies of a template", () => {
  it("are there when they are asked for, each given to one who asks", async () => {
    const ready = start();
    ready.makeAhead(template);
    await ready.settle();
    const ahead = await copyNames();
    expect(ahead).toHaveLength(2);
    const taken = await Promise.all([1, 2, 3].map(() => ready.take(template)));
    expect(new Set(taken).size).toBe(3);
    expect(taken).toEqual(expect.arrayContaining(ahead));
    for (const name of taken) await ready.discard(name);
  });

  it("are made on the spot when making them ahead has failed, which is logged", async () => {
    const ready = start();
    failing = "CREATE DATABASE";
    ready.makeAhead(template);
    await ready.settle();
    expect(warnings).toHaveLength(2);
    failing = undefined;
    const taken = await ready.take(template);
    expect(await copyNames()).toEqual([taken]);
    await ready.discard(taken);
  });

  it("that are half made when something fails are dropped", async () => {
    const ready = start();
    failing = "REVOKE";
    ready.makeAhead(template);
    await expect(ready.take(template)).rejects.toThrow("no room");
    await ready.settle();
    expect(await copyNames()).toEqual([]);
  });

  it("that could not be dropped are dropped in the end", async () => {
    const ready = start();
    const taken = await ready.take(template);
    failing = "DROP DATABASE";
    await ready.discard(taken);
    expect(warnings).toEqual(["could not drop a database that is no longer used"]);
    await expect(ready.dropAll()).rejects.toThrow("no room");
    failing = undefined;
    expect(await copyNames()).toEqual([taken]);
    await ready.dropAll();
    expect(await copyNames()).toEqual([]);
  });

  it("take up no more than a quarter of a gigabyte ahead, and those used last stay", async () => {
    const ready = start();
    const large = { ...template, bytes: 100 * 1024 ** 2 };
    const other = await lease.server.templates.of({ schema: "CREATE TABLE toys (name text)", seed: "" });
    ready.makeAhead({ ...template, bytes: 300 * 1024 ** 2 });
    await ready.settle();
    expect(await copyNames()).toEqual([]);
    ready.makeAhead(large);
    await ready.settle();
    const first = await copyNames();
    expect(first).toHaveLength(2);
    ready.makeAhead({ ...other, bytes: 100 * 1024 ** 2 });
    await ready.settle();
    const kept = await copyNames();
    expect(kept).toHaveLength(2);
    expect(kept.filter((name) => first.includes(name))).toEqual([]);
  });
});
