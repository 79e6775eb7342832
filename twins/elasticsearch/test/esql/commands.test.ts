/** The commands of ES|QL, over a store. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, refusal, rows, storeOf } from "./events.ts";

const events = [
  {
    "@timestamp": "2026-01-15T10:00:00.123Z",
    service: "checkout",
    level: "error",
    ms: 120,
    ratio: 0.5,
    ok: false,
    tags: ["a", "b"],
    http: { status: 500 },
  },
  {
    "@timestamp": "2026-01-15T10:05:00Z",
    service: "checkout",
    level: "info",
    ms: 20,
    ratio: 1.5,
    ok: true,
    tags: ["a"],
    http: { status: 200 },
  },
  {
    "@timestamp": "2026-01-15T11:00:00Z",
    service: "search",
    level: "error",
    ms: 19,
    ratio: -2.25,
    ok: true,
    http: { status: 503 },
  },
  { "@timestamp": "2026-01-15T11:30:00Z", service: "payments", ms: 7 },
];

let store: LogStore;
beforeAll(async () => {
  store = await storeOf(events);
});
afterAll(() => store.close());

describe("FROM", () => {
  it("lists the fields by name, strings as text and as keyword", async () => {
    const { columns, values } = await ask(store, "FROM logs");
    expect(columns.map(({ name, type }) => `${name}:${type}`)).toEqual([
      "@timestamp:date",
      "http.status:long",
      "level:text",
      "level.keyword:keyword",
      "ms:long",
      "ok:boolean",
      "ratio:double",
      "service:text",
      "service.keyword:keyword",
      "tags:text",
      "tags.keyword:keyword",
    ]);
    expect(values).toHaveLength(4);
  });

  it("prints dates with milliseconds, several values as an array and one as itself", async () => {
    expect(await rows(store, "FROM logs | KEEP @timestamp, tags | LIMIT 2")).toEqual([
      ["2026-01-15T10:00:00.123Z", ["a", "b"]],
      ["2026-01-15T10:05:00.000Z", "a"],
    ]);
  });

  it("gives metadata that is asked for", async () => {
    const query =
      "FROM logs METADATA _id, _index, _version, _source | LIMIT 1 | KEEP _id, _index, _version, _source";
    expect(await rows(store, query)).toEqual([["e0", "logs", 1, events[0]]]);
  });

  it("refuses an index that is not there, in vendor fidelity", async () => {
    expect(await refusal(store, "FROM nothing", { fidelity: "vendor" })).toBe(
      "Found 1 problem\nline -1:-1: Unknown index [nothing]",
    );
    expect(await rows(store, "FROM nothing | STATS COUNT(*)")).toEqual([[4]]);
  });
});

describe("WHERE, EVAL, SORT, LIMIT, KEEP", () => {
  it("keeps the rows whose condition is true, not those where it is unknown", async () => {
    expect(await rows(store, "FROM logs | WHERE ratio > 0 | KEEP ms")).toEqual([[120], [20]]);
    expect(await rows(store, "FROM logs | WHERE NOT ratio > 0 | KEEP ms")).toEqual([[19]]);
  });

  it("lets later fields of EVAL see earlier ones, and divides whole numbers as such", async () => {
    expect(await rows(store, "FROM logs | EVAL x = ms * 2, y = x / 3 | SORT y DESC | KEEP x, y")).toEqual([
      [240, 80],
      [40, 13],
      [38, 12],
      [14, 4],
    ]);
  });

  it("puts nulls last in ascending order and first in descending, unless told otherwise", async () => {
    const sorted = async (how: string) =>
      (await rows(store, `FROM logs | SORT ratio ${how} | KEEP ratio`)).flat();
    expect(await sorted("")).toEqual([-2.25, 0.5, 1.5, null]);
    expect(await sorted("DESC")).toEqual([null, 1.5, 0.5, -2.25]);
    expect(await sorted("ASC NULLS FIRST")).toEqual([null, -2.25, 0.5, 1.5]);
    expect(await sorted("DESC NULLS LAST")).toEqual([1.5, 0.5, -2.25, null]);
  });

  it("warns about the default limit", async () => {
    expect((await ask(store, "FROM logs | KEEP ms")).warnings).toEqual([
      "No limit defined, adding default limit of [1000]",
    ]);
    expect((await ask(store, "FROM logs | KEEP ms | LIMIT 2")).warnings).toEqual([]);
  });
});

describe("STATS", () => {
  it("aggregates by expressions, with expressions of aggregates", async () => {
    const query =
      "FROM logs | STATS c = COUNT(*), AVG(ms), m = MAX(ratio) + 1 BY service | SORT c DESC, service | LIMIT 2";
    const { columns } = await ask(store, query);
    expect(columns.map(({ name }) => name)).toEqual(["c", "AVG(ms)", "m", "service"]);
    expect(await rows(store, query)).toEqual([
      [2, 70, 2.5, "checkout"],
      [1, 7, null, "payments"],
    ]);
  });

  it("gives the groups in the order their first events have", async () => {
    expect(await rows(store, "FROM logs | STATS BY service")).toEqual([
      ["checkout"],
      ["search"],
      ["payments"],
    ]);
  });
});
