/** Whatever a snapshot gives, a reset takes back, and neither is held in memory. */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { type SearchSandbox, startSearch } from "@offhook/elasticsearch/testing/search";
import { heldBytesNow } from "@offhook/platform/testing/held-memory";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect, test } from "vitest";

const MIB = 2 ** 20;
/** Larger than any body that is read into memory. */
const EVENTS = 14_000;
const EVENT_BYTES = 7000;
const BATCH = 1000;
/**
 * Less than the snapshot, and than any of the forms that it would have in memory. A store that is not left alone writes down what is new
 * when it is a third of 48 MiB of text, which it holds as text and as values until then; some 8 MiB more are on their way.
 */
const MAX_HELD_BYTES = 72 * MIB;

let sandbox: SearchSandbox;
let folder: string;
let control: string;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  control = `${sandbox.twins.baseUrl}/c/dev/elasticsearch/sim`;
  folder = await mkdtemp(path.join(tmpdir(), "offhook-test-"));
});
afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
});

const headers = () => ({ "x-api-key": sandbox.twins.apiKey });
const ask = (method: string, place: string, body?: unknown) =>
  request(method, `${control}${place}`, { headers: headers(), body });

/** Sends a file, or takes an answer into one, without holding either; answers the status and the text of a short answer. */
async function exchange(
  place: string,
  given: Readable,
  into?: string,
): Promise<{ status: number; text: string }> {
  const asking = http.request(`${control}${place}`, { method: "POST", headers: headers() });
  const answering = new Promise<http.IncomingMessage>((resolve, reject) => {
    asking.once("response", resolve);
    asking.once("error", reject);
  });
  await pipeline(given, asking);
  const answer = await answering;
  const chunks: Buffer[] = [];
  if (into !== undefined && answer.statusCode === 200) await pipeline(answer, createWriteStream(into));
  else for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}

/** The most that is held while something is done, beyond what was held before. */
async function heldDuring(work: () => Promise<void>): Promise<number> {
  const before = heldBytesNow();
  let most = 0;
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      most = Math.max(most, heldBytesNow() - before);
      await pause(100);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await sampling;
  }
  return most;
}

/** The content hash of a snapshot's file. */
async function hashIn(file: string): Promise<string | undefined> {
  const [beginning] = await createReadStream(file, { start: 0, end: 1000 }).toArray();
  return /"content_hash":"([0-9a-f]{64})"/.exec(String(beginning))?.[1];
}

test("a snapshot of more than 64 MiB is given and taken back in little memory, whole", async () => {
  for (let from = 0; from < EVENTS; from += BATCH) {
    const events = Array.from({ length: BATCH }, (_, place) => ({
      _id: `event-${from + place}`,
      number: from + place,
      text: `${from + place} ${"x".repeat(EVENT_BYTES)}`,
    }));
    expect((await ask("POST", "/data", { data: { events } })).status).toBe(201);
  }
  const file = path.join(folder, "snapshot.json");
  const hashing = JSON.stringify({ content_hash: true });
  const taking = await heldDuring(async () => {
    expect((await exchange("/snapshot", Readable.from([hashing]), file)).status).toBe(200);
  });
  const { size } = await stat(file);
  expect(size).toBeGreaterThan(90 * MIB);
  expect(taking).toBeLessThan(MAX_HELD_BYTES);
  const before = await hashIn(file);
  expect(before).toBeDefined();
  await ask("POST", "/reset");
  expect((await ask("GET", "/data")).body.counts.events).toBe(0);
  const giving = await heldDuring(async () => {
    const answer = await exchange("/reset", createReadStream(file));
    expect([answer.status, JSON.parse(answer.text).counts]).toEqual([
      200,
      expect.objectContaining({ events: EVENTS }),
    ]);
  });
  expect(giving).toBeLessThan(MAX_HELD_BYTES);
  const again = path.join(folder, "again.json");
  await exchange("/snapshot", Readable.from([hashing]), again);
  expect(await hashIn(again)).toBe(before);
  const { body } = await sandbox.raw("POST", "/_search", {
    size: 0,
    aggs: { n: { sum: { field: "number" } } },
  });
  expect(body.aggregations.n.value).toBe((EVENTS * (EVENTS - 1)) / 2);
});

test("one that is broken, repeated or cut off at its end is refused, and everything stays", async () => {
  const file = path.join(folder, "snapshot.json");
  const { size } = await stat(file);
  const before = (await ask("GET", "/data")).body;
  const upTo = (end: number) => createReadStream(file, { start: 0, end });
  const cut = await exchange("/reset", upTo(size - 3));
  expect([cut.status, JSON.parse(cut.text).error.code]).toEqual([400, "malformed_json"]);
  const wrapped = async (last: string) => {
    const events = async function* () {
      yield '{"data":{"events":[';
      for (let number = 0; number < 3000; number++)
        yield `{"_id":"n-${number}","text":"${"y".repeat(EVENT_BYTES)}"},`;
      yield `${last}]}}`;
    };
    const answer = await exchange("/reset", Readable.from(events()));
    return { status: answer.status, problems: JSON.parse(answer.text).error.problems };
  };
  expect(await wrapped('{"_id":"n-7"}')).toEqual({
    status: 422,
    problems: [{ table: "events", row: 3000, column: "_id", value: "n-7", rule: "is there twice" }],
  });
  expect(await wrapped('{"_id":5}')).toMatchObject({
    status: 422,
    problems: [{ table: "events", row: 3000, column: "_id" }],
  });
  expect(await wrapped('{"text":{"a":1}}')).toMatchObject({
    status: 422,
    problems: [{ table: "events", row: 3000 }],
  });
  expect((await ask("GET", "/data")).body).toEqual(before);
});

test("a compressed snapshot is taken as well", async () => {
  const file = path.join(folder, "snapshot.json");
  const asking = http.request(`${control}/reset`, {
    method: "POST",
    headers: { ...headers(), "content-encoding": "gzip" },
  });
  const answering = new Promise<http.IncomingMessage>((resolve) => asking.once("response", resolve));
  await pipeline(createReadStream(file), createGzip({ level: 1 }), asking);
  const answer = await answering;
  answer.resume();
  expect(answer.statusCode).toBe(200);
  expect((await ask("GET", "/data")).body.counts.events).toBe(EVENTS);
});
