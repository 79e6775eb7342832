import { processorMsSince } from "@offhook/platform/testing/processor-time";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const extract = async (row: object, args = "") =>
  (await bench.searchRows([row], `extract ${args} | fields - _raw`)).rows[0];

describe("extract", () => {
  test("pairs of keys and values become fields", async () => {
    const _raw = 'Jan 15 user=ann, msg="it is \\"so\\"" url=/x?q=1&r=2 empty= n=5;';
    expect(await extract({ _raw })).toEqual({
      user: "ann",
      msg: 'it is "so"',
      r: "2",
      n: "5",
      url: "/x?q=1",
    });
  });

  test("delimiters can be others", async () => {
    const _raw = 'user: ann b|city: "a|b"|nothing|x: 1';
    expect(await extract({ _raw }, 'pairdelim="|" kvdelim=":"')).toEqual({
      user: "ann b",
      city: "a|b",
      x: "1",
    });
  });

  test("rule 73: characters of keys that are no letters, digits or _ become _", async () => {
    const _raw = "a.b-c=1 _d=2 é=3";
    expect(await extract({ _raw })).toEqual({ a_b_c: "1", d: "2", é: "3" });
    expect(await extract({ _raw }, "clean_keys=f")).toEqual({ "a.b-c": "1", _d: "2", é: "3" });
  });

  test("a field keeps the value it has, unless values are added", async () => {
    const row = { _raw: "a=1 a=2 b=3", b: "before" };
    expect(await extract(row)).toEqual({ a: "1", b: "before" });
    expect(await extract(row, "mv_add=t")).toEqual({ a: ["1", "2"], b: ["before", "3"] });
  });

  test("pairs and characters are limited", async () => {
    expect(await extract({ _raw: "a=1 b=2 c=3" }, "limit=2")).toEqual({ a: "1", b: "2" });
    expect(await extract({ _raw: "a=1 b=2 c=3" }, "maxchars=6")).toEqual({ a: "1" });
    expect((await bench.searchRows([{ x: 1 }], "kv")).rows).toEqual([{ x: 1 }]);
  });

  test("texts without a pair take no longer than they are long", async () => {
    const [letters, digits] = ["a".repeat(10_000), "1.".repeat(5_000)];
    const rows = Array.from({ length: 300 }, () => ({ _raw: `${letters} ${digits}` }));
    const before = process.cpuUsage();
    await bench.searchRows(rows, "extract maxchars=20000 | stats count");
    expect(processorMsSince(before)).toBeLessThan(3_000);
  });

  test("a key begins with the first letter of its word", async () => {
    expect(await extract({ _raw: "1a=1 ..b=2 3=4 c==5 \u0001d=6" })).toEqual({
      ...{ a: "1", b: "2", c: "=5", d: "6" },
    });
  });

  test("a stanza of transforms.conf is refused", async () => {
    expect(await bench.refusal("extract access-extractions")).toBe(
      "Error in 'extract' command: The extraction stanza 'access-extractions' of transforms.conf is not served here.",
    );
  });
});
