/**
 * A store without room takes nothing more, and loses nothing that it has taken.
 * Proves a part of twins/SECURITY.md.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { raw } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { type LogStore, StoreFull } from "../../store/log-store.ts";
import type { FillReport } from "./fill-store.ts";

const MEBIBYTE = 1024 ** 2;
const run = promisify(execFile);
const filler = fileURLToPath(new URL("./fill-store.ts", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "full-disk-"));
});
afterEach(() => rm(folder, { recursive: true }));

const idsOf = async (store: LogStore) =>
  (await store.query(raw("SELECT _id FROM documents ORDER BY _row"))).rows.map(([id]) => id);

/** Documents of which each takes some kilobytes. */
const documents = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    index: "logs",
    id: `d${from + n}`,
    source: JSON.stringify({ n: from + n, text: `error ${"upstream ".repeat(400)}` }),
  }));

async function* inParts(from: number, count: number) {
  for (let at = from; at < from + count; at += 100) yield documents(at, 100);
}

describe.each(["fields", "raw"] as const)("a store found by %s that reaches its limit", (textIndex) => {
  let store: LogStore;
  beforeEach(async () => {
    store = await openLogStore({ folder, textIndex, limitBytes: 2 * MEBIBYTE });
  });
  afterEach(() => store.close());

  /** Writes until it is refused; answers what was taken. */
  async function fill(): Promise<string[]> {
    const taken: string[] = [];
    for (let from = 0; ; from += 50) {
      const batch = documents(from, 50);
      try {
        await store.write(batch);
      } catch (error) {
        expect(error).toBeInstanceOf(StoreFull);
        expect(String(error)).toContain("STORE_LIMIT_MB");
        expect(String(error)).not.toContain(folder);
        return taken;
      }
      taken.push(...batch.map(({ id }) => id));
      expect(taken.length).toBeLessThan(100_000);
    }
  }

  test("refuses writes whole, says so, and reads all that it took", async () => {
    expect(await store.refusal()).toBe(undefined);
    const taken = await fill();
    expect(taken.length).toBeGreaterThan(50);
    expect(await idsOf(store)).toEqual(taken);
    expect((await store.refusal())?.message).toContain("STORE_LIMIT_MB");
    await expect(store.write(documents(0, 50))).rejects.toThrow(StoreFull);
    expect(await idsOf(store)).toEqual(taken);
  });

  test("takes writes again after a reset", async () => {
    await fill();
    await store.reset();
    expect(await store.refusal()).toBe(undefined);
    await store.write(documents(7, 1));
    expect(await idsOf(store)).toEqual(["d7"]);
  });

  test("keeps its content when a whole state does not fit", async () => {
    await store.write(documents(0, 3));
    const content = { fields: [], timeField: undefined, documents: inParts(10, 2000) };
    await expect(store.load(content)).rejects.toThrow(StoreFull);
    expect(await idsOf(store)).toEqual(["d0", "d1", "d2"]);
  });
});

test("an index that a refused write would have made is not there", async () => {
  const store = await openLogStore({ folder, limitBytes: 1 });
  await expect(store.write(documents(0, 1))).rejects.toThrow(StoreFull);
  expect([...(await store.indexes())]).toEqual([]);
  await store.close();
});

// A limit on the size of files fails in the middle of a checkpoint, as a disk does that somebody else fills.
describe.each(["fields", "raw"])("a store found by %s whose file cannot grow", (textIndex) => {
  test("outlives the database that DuckDB invalidates, with every document that was acknowledged", async () => {
    const command = `ulimit -f 4096; exec "$0" --import tsx "$1" "$2" ${textIndex}`;
    const { stdout } = await run("bash", ["-c", command, process.execPath, filler, folder], {
      maxBuffer: 64 * MEBIBYTE,
    });
    const report: FillReport = JSON.parse(stdout);
    expect(report.invalidated).toBe(true);
    expect(report.refusal).toContain("the disk that holds the log store is full");
    expect(report.refusal).not.toContain(folder);
    expect(report.expected.documents).toBeGreaterThan(1000);
    expect(report.found).toEqual(report.expected);
    expect(report.afterReset).toEqual({ documents: 1, sum: 1, words: 1, changed: 0 });
  });
});
