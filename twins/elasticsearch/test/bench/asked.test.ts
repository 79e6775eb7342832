import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { extend, loadFile, type OpenDatabase, openDatabase } from "@offhook/log-store/bench/duckdb";
import { type DatasetFiles, writeDatasets } from "@offhook/log-store/bench/files";
import type { Answer } from "@offhook/log-store/bench/questions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { difference, questionsOf } from "../../bench/asked.ts";

const EVENTS = 20_000;

interface Event {
  message: string;
  trace: { id: string };
  http: { response: { status_code: number } };
}

let folder: string;
let datasets: DatasetFiles;
let events: Event[];
let database: OpenDatabase;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "offhook-test-bench-"));
  datasets = await writeDatasets(folder, EVENTS);
  const lines = (await readFile(datasets.files.ndjson, "utf8")).trimEnd().split("\n");
  events = lines.map((line) => JSON.parse(line));
  database = await openDatabase(path.join(folder, "events.duckdb"), "load");
  await loadFile(database.ask, datasets.files.ndjson, "ndjson");
  await extend(database.ask);
});

afterAll(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

function byHand(question: string, variant: number): Promise<Answer> {
  const asked = questionsOf(datasets.facts).find(({ name }) => name === question)?.variants[variant];
  if (!asked) throw new Error(`there is no variant ${variant} of ${question}`);
  return asked.byHand(database.ask);
}

describe("the files of bench search", () => {
  it("hold the same events, whichever format", async () => {
    const csv = await openDatabase(path.join(folder, "csv.duckdb"), "load");
    expect(await loadFile(csv.ask, datasets.files.csv, "csv")).toBe(EVENTS);
    const figures = (columns: string) =>
      `SELECT count(*), min(epoch_ms("@timestamp")), ${columns}, md5(string_agg(message, '' ORDER BY rowid)) FROM loaded`;
    const ofCsv = await csv.ask(figures(`sum("event.duration"), count("error.type")`));
    csv.close();
    const ndjson = await openDatabase(path.join(folder, "ndjson.duckdb"), "load");
    await loadFile(ndjson.ask, datasets.files.ndjson, "ndjson");
    const ofNdjson = await ndjson.ask(figures("sum(event.duration), count(error.type)"));
    ndjson.close();
    expect(ofCsv).toEqual(ofNdjson);
    expect(ofCsv[0]?.[0]).toBe(EVENTS);
  });
});

describe("the questions of bench search", () => {
  it("find something, each in every variant", async () => {
    for (const { name, variants } of questionsOf(datasets.facts)) {
      for (const [index, variant] of variants.entries()) {
        const answer = await variant.byHand(database.ask);
        const found = answer.length > 1 || Number(answer[0]?.[0]) > 1;
        expect(found, `${name}, variant ${index}: ${JSON.stringify(answer)}`).toBe(true);
      }
    }
  });

  it("give by hand the scores of BM25", async () => {
    const words = ["pool", "exhausted"];
    const texts = events.map(({ message }) =>
      message
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter(Boolean),
    );
    const meanLength = texts.reduce((sum, text) => sum + text.length, 0) / EVENTS;
    const weights = words.map((word) => {
      const n = texts.filter((text) => text.includes(word)).length;
      return Math.log(1 + (EVENTS - n + 0.5) / (n + 0.5));
    });
    const scored = texts.map((text, row) => {
      const scores = words.map((word, index) => {
        const frequency = text.filter((one) => one === word).length;
        const share = frequency / (frequency + 1.2 * (0.25 + (0.75 * text.length) / meanLength));
        return (weights[index] ?? 0) * 2.2 * share;
      });
      return { row, score: scores.reduce((sum, score) => sum + score, 0) };
    });
    const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.row - b.row);
    const expected = [
      [best.length],
      ...best.slice(0, 10).map(({ row, score }) => [events[row]?.trace.id ?? null, score]),
    ];
    expect(difference(await byHand("match, frequent words", 0), expected)).toBeUndefined();
  });

  it("find by hand the events with a phrase, and those with both words", async () => {
    const withPhrase = events.filter(({ message }) => message.includes("issuer declined"));
    expect((await byHand("match_phrase", 0))[0]).toEqual([withPhrase.length]);
    const both = events.filter(({ message }) => message.includes("issuer") && message.includes("declined"));
    expect((await byHand("query_string", 0))[0]).toEqual([both.length]);
  });
});

describe("two answers", () => {
  it("are the same when only the last digits of a score differ", () => {
    expect(difference([[2], ["a", 1.2345678]], [[2], ["a", 1.2345679]])).toBeUndefined();
  });

  it("differ by a value, a whole number, a row, or the order of rows", () => {
    const answer: Answer = [[10_000], ["a", 1.5], ["b", 1.25]];
    expect(difference(answer, [[10_001], ["a", 1.5], ["b", 1.25]])).toBe("row 1 is [10000], not [10001]");
    expect(difference(answer, [[10_000], ["a", 1.5001], ["b", 1.25]])).toMatch(/^row 2 is/);
    expect(difference(answer, [[10_000], ["b", 1.25], ["a", 1.5]])).toMatch(/^row 2 is/);
    expect(difference(answer, [[10_000], ["a", 1.5]])).toBe("3 rows, not 2");
    expect(difference([[null]], [[0]])).toBe("row 1 is [null], not [0]");
  });
});
