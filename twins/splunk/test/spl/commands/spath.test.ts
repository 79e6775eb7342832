import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const json = JSON.stringify({
  user: { name: "ann", id: 1.5 },
  tags: ["x", "y"],
  items: [{ k: "a", n: [1, 2] }, { k: "b" }, { k: null }],
  ok: true,
  gone: null,
});
const xml =
  '<?xml version="1.0"?><shop><book lang="en"><title>A &amp; B</title></book><book lang="de"><title><![CDATA[<C>]]></title><note/></book></shop>';
const found = async (text: string, search: string) =>
  (await bench.searchRows([{ _raw: text }], search)).rows[0];

describe("spath", () => {
  test("rule 66: without a path every value of the text becomes a field, lists under names with braces", async () => {
    expect(await found(json, "spath | fields - _raw")).toEqual({
      "user.name": "ann",
      "user.id": "1.5",
      "tags{}": ["x", "y"],
      "items{}.k": ["a", "b"],
      "items{}.n{}": ["1", "2"],
      ok: "true",
    });
    expect(await found("[1, [2, 3]]", "spath | fields - _raw")).toEqual({ "{}": "1", "{}{}": ["2", "3"] });
  });

  test("rule 66: a path leads to values, objects and lists, each in a field of its name or of output", async () => {
    const search = [
      "spath user.name",
      "spath path=items{}.k output=k",
      "spath output=second path=tags{1}",
      "spath path=user output=object",
      'spath "items{0}.n{}"',
      "spath path=tags.x output=nothing",
      "fields - _raw",
    ].join(" | ");
    expect(await found(json, search)).toEqual({
      "user.name": "ann",
      k: ["a", "b"],
      second: "y",
      object: '{"name":"ann","id":1.5}',
      "items{0}.n{}": ["1", "2"],
    });
  });

  test("XML has elements, attributes, and places that count from 1", async () => {
    expect(await found(xml, "spath | fields - _raw")).toEqual({
      "shop.book.title": ["A & B", "<C>"],
      "shop.book{@lang}": ["en", "de"],
    });
    const search =
      "spath shop.book{2}.title | spath shop.book{@lang} | spath shop.book.title output=t | fields - _raw";
    expect(await found(xml, search)).toEqual({
      "shop.book{2}.title": ["<C>"],
      "shop.book{@lang}": ["en", "de"],
      t: ["A & B", "<C>"],
    });
  });

  test("a row without the value keeps what it had; another field can be the input", async () => {
    const rows = [
      { _raw: "x", data: '{"a":"new"}', a: "old" },
      { _raw: "y", data: "no json", a: "old" },
    ];
    expect((await bench.searchRows(rows, "spath input=data | fields a | fields - _raw")).rows).toEqual([
      { a: "new" },
      { a: "old" },
    ]);
    expect((await bench.searchRows(rows, "spath input=data path=a | fields a | fields - _raw")).rows).toEqual(
      [{ a: "new" }, { a: "old" }],
    );
    expect(
      (await bench.searchRows(rows, "spath input=missing | fields a | fields - _raw")).rows,
    ).toHaveLength(2);
  });

  test("rule 66: only the first 5,000 characters are looked at without a path, and what is before a mistake stays", async () => {
    const long = `{"a":"1","long":"${"x".repeat(5_000)}","b":"2"}`;
    expect(await found(long, "spath | fields - _raw")).toEqual({ a: "1" });
    expect(await found(long, "spath b | fields - _raw")).toEqual({ b: "2" });
    expect(await found('{"a":1,"b":}', "spath | fields - _raw")).toEqual({ a: "1" });
  });

  test("output without a path is refused", async () => {
    expect(await bench.refusal("spath output=x")).toBe(
      "Error in 'spath' command: You have not specified a path. Try using \"path=mypath\" as an argument to spath.",
    );
    expect(await bench.refusal("spath a b")).toBe("Error in 'spath' command: Invalid argument: 'b'");
  });
});
