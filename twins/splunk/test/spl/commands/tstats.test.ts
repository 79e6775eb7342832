import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DataModelObject } from "../../../spl/context/knowledge.ts";
import { type SplBench, splBench } from "../../support/spl.ts";

const model: DataModelObject[] = [
  { model: "Web", object: "Web", constraint: "sourcetype=access", fields: { url: "path" } },
  { model: "Web", object: "Proxy", constraint: "sourcetype=proxy", fields: {} },
];
const start = Date.UTC(2026, 0, 15, 10) / 1000;
const events = [
  { _time: start, sourcetype: "access", host: "a", path: "/x", bytes: 10 },
  { _time: start + 60, sourcetype: "access", host: "a", path: "/y", bytes: 20 },
  { _time: start + 3600, sourcetype: "access", host: "b", path: "/x", bytes: 30 },
  { _time: start + 7200, sourcetype: "access", host: "b", bytes: 5 },
  { _time: start + 7200, sourcetype: "proxy", host: "c", url: "/z", bytes: 1 },
];

let bench: SplBench;
beforeAll(async () => {
  const dataModel = (name: string) => (name === "Web" ? model : []);
  bench = await splBench(events, { knowledge: { dataModel } });
});
afterAll(() => bench.close());
const rows = async (text: string) => (await bench.search(text)).rows;

describe("tstats", () => {
  test("aggregates of events, by their fields", async () => {
    expect(await rows("| tstats count sum(bytes) as bytes where sourcetype=access bytes>5 by host")).toEqual([
      { host: "a", count: 2, bytes: 30 },
      { host: "b", count: 1, bytes: 30 },
    ]);
    expect(await rows("tstats count")).toEqual([{ count: 5 }]);
    expect(await rows("| tstats count, summariesonly=t fillnull_value=none max(bytes) as most")).toEqual([
      { count: 5, most: 30 },
    ]);
  });

  test("fields of a data model have their object's name before them, and its constraint holds", async () => {
    const search =
      '| tstats summariesonly=t count min(_time) as first values(Web.bytes) from datamodel=Web.Web where Web.url="/x" by Web.host Web.url';
    expect(await rows(search)).toEqual([
      { "Web.host": "a", "Web.url": "/x", count: 1, first: start, "values(Web.bytes)": ["10"] },
      { "Web.host": "b", "Web.url": "/x", count: 1, first: start + 3600, "values(Web.bytes)": ["30"] },
    ]);
    expect(await rows('| tstats count from datamodel="Web"."Proxy" by Proxy.url')).toEqual([
      { "Proxy.url": "/z", count: 1 },
    ]);
    expect(await rows("| tstats count from datamodel=Web where nodename=Web.Proxy")).toEqual([{ count: 1 }]);
  });

  test("a row without a field of BY is left out, or grouped under fillnull_value", async () => {
    expect(await rows("| tstats count from datamodel=Web by Web.url")).toHaveLength(2);
    expect(await rows('| tstats count from datamodel=Web by Web.url fillnull_value="-"')).toHaveLength(3);
    expect(await rows("| tstats fillnull_value=none count from datamodel=Web by Web.url, Web.gone")).toEqual([
      { "Web.url": "/x", "Web.gone": "none", count: 2 },
      { "Web.url": "/y", "Web.gone": "none", count: 1 },
      { "Web.url": "none", "Web.gone": "none", count: 1 },
    ]);
  });

  test("_time is grouped in spans, and limited by time modifiers", async () => {
    expect(await rows("| tstats count where sourcetype=access by _time span=1h host")).toEqual([
      { _time: start, host: "a", count: 2 },
      { _time: start + 3600, host: "b", count: 1 },
      { _time: start + 7200, host: "b", count: 1 },
    ]);
    expect(
      await rows(`| tstats count from datamodel=Web where earliest=${start + 60} latest=${start + 3601}`),
    ).toEqual([{ count: 2 }]);
  });

  test("prestats=t leaves the aggregates to stats, chart and timechart", async () => {
    const asked = "count sum(bytes) median(bytes) dc(path) values(path) first(path) max(bytes)";
    const by = "where sourcetype=access by host";
    const direct = await rows(`| tstats ${asked} ${by}`);
    expect(await rows(`| tstats prestats=t ${asked} ${by} | stats ${asked} by host`)).toEqual(direct);
    expect(await rows(`| tstats prestats=t ${asked} ${by} | where host="b" | stats count`)).toEqual([
      { count: 2 },
    ]);
    expect(
      await rows("| tstats prestats=t count by host sourcetype | chart count over host by sourcetype"),
    ).toEqual([
      { host: "a", access: 2, proxy: 0 },
      { host: "b", access: 2, proxy: 0 },
      { host: "c", access: 0, proxy: 1 },
    ]);
    const charted = "| tstats prestats=t count by _time host span=1h | timechart span=1h count by host";
    expect(await rows(charted)).toEqual(await rows("search * | timechart span=1h count by host"));
    expect(await rows("| tstats prestats=t latest(path) by _time span=1m | stats latest(path)")).toEqual(
      await rows("search * | stats latest(path)"),
    );
    expect(await rows("| tstats prestats=t count where host=gone | stats count")).toEqual([{ count: 0 }]);
  });

  test("rows of prestats=t are groups, with their own fields", async () => {
    expect(await rows("| tstats prestats=t count sum(bytes) as b by host | head 1")).toEqual([
      { host: "a", psrsvd_gc: 2, psrsvd_vm_bytes: [20, 10], psrsvd_v: 1 },
    ]);
    expect(await bench.refusal("| tstats prestats=t latest(path) by host")).toContain(
      "'latest(path)' with prestats=true is served with _time among the fields of BY only.",
    );
    expect(await bench.refusal("| tstats prestats=t sum(b*) by host")).toContain(
      "'sum(b*)' is not served with prestats=true",
    );
  });

  test("append=t keeps the preceding rows, and requires prestats=t", async () => {
    const search =
      "| tstats prestats=t count where host=c by host | tstats prestats=t append=t count where host=a by host";
    expect(await rows(`${search} | stats count by host`)).toEqual([
      { host: "a", count: 2 },
      { host: "c", count: 1 },
    ]);
    expect(
      await rows(
        "| tstats prestats=t median(bytes) where host=a | tstats prestats=t append=t dc(path) where host=b | stats median(bytes) dc(path)",
      ),
    ).toEqual([{ "median(bytes)": 15, "dc(path)": 1 }]);
    expect(await bench.refusal("| tstats count | tstats append=t count")).toContain(
      "append=true is valid with prestats=true only.",
    );
    expect(await bench.refusal("search x | tstats count")).toBe(
      "Error in 'tstats' command: This command must be the first command of a search.",
    );
  });

  test("missing models, objects and clauses are refused", async () => {
    expect(await bench.refusal("| tstats count from datamodel=None")).toBe(
      "Error in 'tstats' command: Data model 'None' was not found.",
    );
    expect(await bench.refusal("| tstats count from sid=1")).toContain("'sid' after FROM is not served here");
    expect(await bench.refusal("| tstats by a")).toContain("at least one aggregation");
  });
});

describe("tstats PREFIX()", () => {
  let texts: SplBench;
  beforeAll(async () => {
    const raws = ["kb=1.5 Group=Thruput,kb=2", 'group="thruput" kb=', "xkb=7 group=queue kb=4;", "none"];
    texts = await splBench(raws.map((_raw, n) => ({ _time: start + n * 60, _raw, host: n < 2 ? "a" : "b" })));
  });
  afterAll(() => texts.close());
  const found = async (text: string) => (await texts.search(text)).rows;

  test("groups by the remainder of segments after a prefix, in lower case", async () => {
    expect(await found("| tstats count by PREFIX(group=)")).toEqual([
      { "group=": "queue", count: 1 },
      { "group=": "thruput", count: 1 },
    ]);
    expect(await found("| tstats count where host=a by PREFIX(Group=) _time span=1h")).toEqual([
      { "Group=": "thruput", _time: start, count: 1 },
    ]);
    expect(await found("| tstats count by PREFIX(group=) | rename group= as group | fields group")).toEqual([
      { group: "queue" },
      { group: "thruput" },
    ]);
  });

  test("is an argument of functions", async () => {
    expect(
      await found('| tstats sum(PREFIX(kb=)) as kb max(PREFIX(kb=)) dc(PREFIX("xkb=")) by host'),
    ).toEqual([
      { host: "a", kb: 3.5, "max(kb=)": "2", "dc(xkb=)": 0 },
      { host: "b", kb: 4, "max(kb=)": "4", "dc(xkb=)": 1 },
    ]);
  });

  test.each(["a b", "", "a;", '"'])("takes no major breaker: PREFIX(%s)", async (prefix) => {
    expect(await texts.refusal(`| tstats count by PREFIX(${prefix})`)).toMatch(
      /^(Error in 'tstats' command:|Unbalanced)/,
    );
  });
});
