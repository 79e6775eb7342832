/** A file is taken in as a stream, within bounds. Proves a part of twins/SECURITY.md. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { heldBytesNow } from "@offhook/platform/testing/held-memory";
import { DatasetRefusal, DatasetTooLarge } from "@offhook/platform/twin/dataset";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ingest } from "../../ingest/ingest.ts";
import { parseFile } from "../../ingest/parse-file.ts";
import { StagingFile } from "../../ingest/staging-file.ts";
import { refusalOf } from "../../testing/ingested.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "stream-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Events of about a kilobyte, in chunks as a socket gives them, made when they are asked for. */
async function* events(totalBytes: number): AsyncGenerator<Buffer> {
  const filler = "a request to the backend ".repeat(36);
  for (let bytes = 0, row = 0; bytes < totalBytes; ) {
    let chunk = "";
    for (; chunk.length < 60_000; row++) {
      chunk += `{"ts":"2024-01-31T09:08:07Z","row":${row},"text":"${filler}","tags":["x","y${row % 7}"]}\n`;
    }
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    yield buffer;
  }
}

test("a stream is taken in within bounded memory, and others have their turn after each piece of it", async () => {
  const totalBytes = 128 << 20;
  const out = await StagingFile.create(path.join(folder, "staged"));
  let growth = 0;
  const before = heldBytesNow();
  let chunks = 0;
  const bytes = async function* () {
    for await (const chunk of events(totalBytes)) {
      if (++chunks % 100 === 0) growth = Math.max(growth, heldBytesNow() - before);
      yield chunk;
    }
  };
  let turns = 0;
  let turn = setImmediate(function next() {
    turns++;
    turn = setImmediate(next);
  });
  const taken = await parseFile({ bytes: bytes() }, out, undefined);
  clearImmediate(turn);
  await out.close();
  expect(taken.bytes).toBeGreaterThanOrEqual(totalBytes);
  expect(growth).toBeLessThan(32 << 20);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(totalBytes / (128 << 10)));
});

test("a gzip that holds far more than it weighs is bounded by what it holds", async () => {
  const zipped = pipeline(Readable.from(events(40 << 20)), createGzip(), () => undefined);
  const reading = ingest({ bytes: zipped, maxBytes: 20 << 20 }, folder);
  await expect(reading).rejects.toThrow(DatasetTooLarge);
});

test("a gzip that is broken or ends too early is refused", async () => {
  const chunks: Buffer[] = [];
  for await (const chunk of pipeline(Readable.from(events(1 << 20)), createGzip(), () => undefined)) {
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  expect((await refusalOf(whole.subarray(0, -100))).message).toContain("cannot be decompressed");
  const broken = Buffer.from(whole);
  broken.fill(0xff, 1000, 1100);
  expect((await refusalOf(broken)).message).toContain("cannot be decompressed");
});

test("a source that fails, fails the reading with its own error", async () => {
  const failing = async function* () {
    yield Buffer.from("a,b\n1,2\n");
    throw new Error("the cable is out");
  };
  await expect(ingest({ bytes: failing() }, folder)).rejects.toThrow("the cable is out");
});

test("giving up ends it while it reads, with the reason given", async () => {
  const giveUp = new AbortController();
  let chunks = 0;
  const bytes = async function* () {
    for await (const chunk of events(50 << 20)) {
      if (++chunks === 20) giveUp.abort(new Error("nobody wants it"));
      yield chunk;
    }
  };
  await expect(ingest({ bytes: bytes() }, folder, giveUp.signal)).rejects.toThrow("nobody wants it");
  expect(chunks).toBeLessThan(30);
});

test("giving up ends it while the database is made", async () => {
  const giveUp = new AbortController();
  const bytes = async function* () {
    yield* events(20 << 20);
    // The last that is read of the file: what comes now is DuckDB's work.
    setImmediate(() => giveUp.abort(new Error("nobody wants it")));
  };
  await expect(ingest({ bytes: bytes() }, folder, giveUp.signal)).rejects.toThrow("nobody wants it");
});

test("a refusal reads on to count what is wrong, and keeps none of it on disk", async () => {
  const wrong = async function* () {
    yield Buffer.from("a,b\n");
    for (let chunk = 0; chunk < 50; chunk++) yield Buffer.from("1\n2,3\n".repeat(10_000));
  };
  const refused = await ingest({ bytes: wrong() }, folder).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DatasetRefusal);
  expect(refused).toMatchObject({ total: 500_000 });
  expect(await readdir(folder)).toEqual(["staged"]);
});
