import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ingested, refusalOf, typesOf } from "../../testing/ingested.ts";

describe("NDJSON", () => {
  test("an event is kept as it was written, to the byte", async () => {
    const events = [
      '{ "b" : 1.0,\t"a":"\\u00e9\\/\\n" }',
      '{"n":12345678901234567890123,"e":1E+2,"z":-0,"list":[ ],"o":{ }, "x":null}',
      '{"a":\r"carriage return between values"}',
    ];
    expect((await ingested(`${events.join("\n")}\n`)).sources).toEqual(events);
  });

  test("objects are flattened to dotted names; a name with a dot is the same field", async () => {
    const { rows } = await ingested('{"http":{"response":{"status":200}}}\n{"http.response.status":404}\n');
    expect(rows).toEqual([{ "http.response.status": "200" }, { "http.response.status": "404" }]);
  });

  test("arrays are several values, those of objects too; null and empty ones are none", async () => {
    const result = await ingested(
      '{"t":["a",null,["b"]],"o":[{"k":1},{"k":2,"m":true},{}],"e":[],"n":null}\n{"t":"c","o":{"k":3}}\n{"t":[""]}\n',
    );
    expect(typesOf(result)).toEqual({ t: "text[]", "o.k": "long[]", "o.m": "boolean" });
    expect(result.rows).toEqual([
      { t: ["a", "b"], "o.k": ["1", "2"], "o.m": true },
      { t: ["c"], "o.k": ["3"], "o.m": null },
      { t: [""], "o.k": null, "o.m": null },
    ]);
  });

  test("an empty string is a value", async () => {
    expect((await ingested('{"a":""}\n{"b":1}\n')).rows).toEqual([
      { a: "", b: null },
      { a: null, b: "1" },
    ]);
  });

  test("escapes stand for their characters, whatever these mean elsewhere", async () => {
    const text = '\u001f\u001e\u001d\u001b0\u001b1\u0000\n\r"\\/\b\f\t é😀';
    const result = await ingested(`${JSON.stringify({ one: text, many: [text, "x", text] })}\n`);
    expect(result.rows).toEqual([{ one: text, many: [text, "x", text] }]);
    const escaped = await ingested('{"a":"\\u00E9\\ud83d\\ude00\\/"}\n');
    expect(escaped.rows).toEqual([{ a: "é😀/" }]);
  });

  test("fields may come in any order, and new ones late", async () => {
    const { rows } = await ingested('{"a":1,"b":2}\n{"b":3,"a":4}\n{"c":{"d":5},"a":6}\n{"b":7}');
    expect(rows).toEqual([
      { a: "1", b: "2", "c.d": null },
      { a: "4", b: "3", "c.d": null },
      { a: "6", b: null, "c.d": "5" },
      { a: null, b: "7", "c.d": null },
    ]);
  });

  test("a value and an object under one name are both kept", async () => {
    const result = await ingested('{"a":1}\n{"a":{"b":2}}\n');
    expect(result.rows).toEqual([
      { a: "1", "a.b": null },
      { a: null, "a.b": "2" },
    ]);
  });

  test("an event without any field is a row", async () => {
    expect((await ingested('{"a":1}\n{}\n')).sources).toEqual(['{"a":1}', "{}"]);
    expect((await ingested("{}\n{}\n")).sources).toHaveLength(2);
  });

  test("an event in a hit of an export may be nested as deep as one that stands alone, and no deeper", async () => {
    const nested = (levels: number, open: string, close: string) =>
      `${'{"a":'}${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;
    const hit = (event: string) => `{"_index":"web","_id":"A","_source":${event}}\n`;
    for (const [levels, open, close, rule] of [
      [20, '{"a":', "}", "objects are nested deeper than 20 levels"],
      [100, "[", "]", "the event is nested deeper than 100 levels"],
    ] as const) {
      const { sources } = await ingested(hit(nested(levels, open, close)), { format: "ndjson" });
      expect(sources).toEqual([nested(levels, open, close)]);
      await expect(
        ingested(hit(nested(levels + 1, open, close)), { format: "ndjson" }),
      ).rejects.toMatchObject({
        problems: [{ line: 1, rule }],
      });
    }
  });

  test("hits of an export give their source, id and index; other lines can stand among them", async () => {
    const { ids, indices, sources, rows } = await ingested(
      [
        '{"_index":"web","_type":"_doc","_id":"A","_score":1.5,"_source": {"m" : "hi"},"sort":[1]}',
        '{"_id":"B","_source":{"m":"_source"}}',
        '{"m":"plain"}',
        '{"m":"a text with \\"_source\\" in it","o":{"_source":{"x":1}}}',
      ].join("\n"),
    );
    expect(ids).toEqual(["A", "B", "row-2", "row-3"]);
    expect(indices).toEqual(["web", "logs", "logs", "logs"]);
    expect(sources.slice(0, 3)).toEqual(['{"m" : "hi"}', '{"m":"_source"}', '{"m":"plain"}']);
    expect(rows.map(({ m }) => m)).toEqual(["hi", "_source", "plain", 'a text with "_source" in it']);
    expect(rows[3]).toMatchObject({ "o._source.x": "1" });
  });

  test("_id and _index of a plain event are the document's", async () => {
    const { ids, indices, rows, sources } = await ingested(
      [
        '{"_id":"x","_index":"web","a":1}',
        '  { "a" : 2.0 , "_id" : 7 }',
        '{"_id": null ,\t"a": 3}',
        '{"_index":"web","_id":"y"}',
        '{"a":4,"_id":"z", "_index":"app","b":{"_id":1}}',
      ].join("\n"),
    );
    expect(ids).toEqual(["x", "7", "row-2", "y", "z"]);
    expect(indices).toEqual(["web", "logs", "logs", "web", "app"]);
    expect(rows.map(({ a }) => a)).toEqual([1, 2, 3, null, 4]);
    expect(sources).toEqual(['{"a":1}', '{ "a" : 2.0 }', '{"a": 3}', "{}", '{"a":4,"b":{"_id":1}}']);
  });

  test("an object at _id is the event's, and a list is refused", async () => {
    const { ids, sources, rows } = await ingested('{"_id":{"$oid":"5f"},"a":1}\n');
    expect([ids, sources, rows]).toEqual([
      ["row-0"],
      ['{"_id":{"$oid":"5f"},"a":1}'],
      [{ a: "1", "_id.$oid": "5f" }],
    ]);
    expect((await refusalOf('{"a":1,"_id":["x"]}\n')).problems).toEqual([
      { line: 1, column: 8, rule: '"_id" is the document\'s, and has one value' },
    ]);
  });
});

describe("an NDJSON file is refused", () => {
  const problem = (column: number, rule: string | RegExp) => ({
    line: 2,
    column,
    rule: typeof rule === "string" ? rule : expect.stringMatching(rule),
  });
  test.each([
    ["with a trailing comma", '{"a":1,}', problem(8, "a name in quotes must stand here")],
    ["with a line that is no object", '"text"', problem(1, "each line must be one JSON object")],
    ["that is one array", "[{}]", problem(1, /array of events is not NDJSON/)],
    [
      "with two objects on a line",
      '{"a":1} {"a":2}',
      problem(9, "a line holds one object, and nothing after it"),
    ],
    ["with an event over two lines", '{"a":', problem(6, /^the line ends too early/)],
    [
      "with a string that does not end",
      '{"ä":"x}',
      problem(6, "the string that begins here does not end on this line"),
    ],
    ["with a leading zero", '{"a":01}', problem(7, 'after a member comes "," or "}"')],
    ["with a number that stops", '{"a":1.}', problem(8, "a digit must stand here")],
    ["with NaN", '{"a":NaN}', problem(6, "a JSON value must stand here")],
    ["with single quotes", "{'a':1}", problem(2, "a name in quotes must stand here")],
    ["with a wrong escape", '{"a":"\\x"}', problem(7, "there is no such escape in JSON")],
    [
      "with half a character",
      '{"a":"\\ud800x"}',
      problem(7, "this is half of a character, which is no text"),
    ],
    ["with a control character", '{"a":"\t"}', problem(7, "a control character in a string must be escaped")],
    ["with a name twice", '{"b":{"a":1,"a":2}}', problem(13, 'the object has "b.a" twice')],
    ["without a name", '{"":1}', problem(2, "a member must have a name")],
    ["with nothing between two dots", '{"a..b":1}', problem(2, 'the name "a..b" has an empty part')],
    [
      "with U+0000 in a name",
      '{"a\\u0000b":1}',
      problem(2, 'the name "a\\u0000b" has the character U+0000 in it'),
    ],
    [
      "with objects nested deeper than a written event may have them",
      `${'{"a":'.repeat(21)}1${"}".repeat(21)}`,
      problem(101, "objects are nested deeper than 20 levels"),
    ],
    [
      "that is nested too deep",
      `{"a":${"[".repeat(200)}1${"]".repeat(200)}}`,
      problem(105, "the event is nested deeper than 100 levels"),
    ],
    ["with half a hit", '{"_source":{"a":1},"other":2}', problem(1, /"other" does not fit/)],
  ])("%s", async (_name, line, expected) => {
    const { problems, total } = await refusalOf(`{"a":0}\n${line}\n{"a":3}\n`);
    expect(problems).toEqual([expected]);
    expect(total).toBe(1);
  });

  test("with two documents of one id in one index; in two indices they are two", async () => {
    const hit = (index: string) => `{"_index":"${index}","_id":"A","_source":{"a":1}}\n`;
    expect((await ingested(hit("web") + hit("app"))).ids).toEqual(["A", "A"]);
    const { problems } = await refusalOf(hit("web") + hit("app") + hit("web"));
    expect(problems).toEqual([{ line: 3, rule: 'the id "A" is that of line 1 already' }]);
  });

  test("with an id that a row without one would get", async () => {
    const { problems } = await refusalOf('{"_id":"row-1","a":1}\n{"a":2}\n');
    expect(problems).toEqual([{ line: 2, rule: 'the id "row-1" is that of line 1 already' }]);
  });

  test("with an id twice when one row is in whichever index is configured", async () => {
    const { problems } = await refusalOf('{"_id":"A","_index":"web","a":1}\n{"_id":"A","a":2}\n');
    expect(problems).toEqual([{ line: 2, rule: 'the id "A" is that of line 1 already' }]);
  });

  test("with more fields than a dataset has", async () => {
    const event = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, 1])),
    );
    expect((await refusalOf(`${event}\n`)).problems).toEqual([
      {
        line: 1,
        column: expect.any(Number),
        rule: '"f1000" is one field too many: a dataset has at most 1000',
      },
    ]);
  });

  test("with a line that is longer than a row may be", async () => {
    const half = Buffer.alloc(9 << 20, "x");
    const chunks = [Buffer.from('{"a":"'), half, half, Buffer.from('"}\n')];
    expect((await refusalOf(chunks)).problems).toEqual([
      { line: 1, rule: "the line has more than 16777216 bytes" },
    ]);
  });
});

test("however it is cut into chunks an event is the same", async () => {
  const text = '{"ä":"😀\\n","l":["x","\\u001d"]}\r\n\n  {"b":-1.5e3}  \n{"ä":"z"}';
  const single = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
  const [cut, whole] = [await ingested(single), await ingested(text)];
  expect(cut.rows).toEqual(whole.rows);
  expect(cut.sources).toEqual(whole.sources);
  expect(whole.rows).toHaveLength(3);
});

test("any events come out as they went in", async () => {
  const text = fc.string({ unit: "grapheme", maxLength: 10 });
  const leaf = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  );
  const event = fc.dictionary(
    fc.constantFrom("a", "b", "c.d", "É", "with space"),
    fc.oneof(
      leaf,
      fc.array(leaf, { maxLength: 3 }),
      fc.record({ x: leaf, y: fc.array(leaf, { maxLength: 2 }) }),
    ),
    { noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 30 }), async (events) => {
      const lines = events.map((one) => JSON.stringify(one));
      const { sources, rows, description } = await ingested(`${lines.join("\n")}\n`, { format: "ndjson" });
      expect(sources).toEqual(lines);
      const texts = description.columns.filter(({ type }) => type === "text").map(({ name }) => name);
      events.forEach((one, index) => {
        for (const name of texts)
          expect([name, textsOf(rows[index]?.[name])]).toEqual([name, leavesOf(one, name)]);
      });
    }),
    { numRuns: 12 },
  );
});

/** The values of a field as text, in their order. */
function textsOf(cell: unknown): string[] {
  if (cell === null || cell === undefined) return [];
  return (Array.isArray(cell) ? cell : [cell]).map(String);
}

/** The leaves under a dotted name, as JSON spells them; a string as it is. */
function leavesOf(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => leavesOf(item, name));
  if (typeof value !== "object" || value === null) {
    if (name !== "") return [];
    return [typeof value === "string" ? value : JSON.stringify(value)];
  }
  return Object.entries(value).flatMap(([key, member]) => {
    if (name === key) return leavesOf(member, "");
    return name.startsWith(`${key}.`) ? leavesOf(member, name.slice(key.length + 1)) : [];
  });
}

describe("what Splunk exports", () => {
  test("is unwrapped: the event is what stands at result", async () => {
    const { rows, sources } = await ingested(
      '{"preview":false,"offset":0,"result":{"_time":"2026-03-02T10:00:00.000+00:00","level":"info"}}\n' +
        '{"preview":false,"offset":1,"lastrow":true,"result":{"_time":"2026-03-02T10:00:01.000+00:00","level":"warn"}}\n',
    );
    expect(rows).toEqual([
      { _time: "2026-03-02 10:00:00", level: "info" },
      { _time: "2026-03-02 10:00:01", level: "warn" },
    ]);
    expect(sources[0]).toBe('{"_time":"2026-03-02T10:00:00.000+00:00","level":"info"}');
  });

  test("has lines without an event, which are none; a preview is refused", async () => {
    const end = '{"preview":false,"lastrow":true}\n';
    expect((await ingested(`${end}{"preview":false,"result":{"a":"1"}}\n${end}`)).rows).toEqual([{ a: "1" }]);
    const { problems } = await refusalOf('{"preview":true,"offset":0,"result":{"a":"1"}}\n');
    expect(problems[0]?.rule).toContain("preview=false");
  });

  test("is told from an event that has members of these names", async () => {
    const event = '{"preview":true,"result":{"a":"1"},"user":"x"}';
    expect((await ingested(`${event}\n`)).sources).toEqual([event]);
  });
});

describe("the body of a bulk request", () => {
  test("is read: each action names the id and the index of the document after it", async () => {
    const { ids, indices, sources } = await ingested(
      [
        '{"index":{"_index":"web","_id":"A","routing":"r"}}',
        '{"m":"hi"}',
        "",
        '{"create":{"_id":7}}',
        '{"index":{"_index":"web"}}',
        '{ "index" : {} }',
        '{"delete":{"_id":"A"}}',
      ].join("\n"),
    );
    expect({ ids, indices }).toEqual({ ids: ["A", "7", "row-2"], indices: ["web", "logs", "logs"] });
    expect(sources).toEqual(['{"m":"hi"}', '{"index":{"_index":"web"}}', '{"delete":{"_id":"A"}}']);
  });

  test.each([
    ["with a change", '{"update":{"_id":"A"}}\n{"doc":{"a":1}}\n', 1, "send the body to /_bulk"],
    ["with a removal", '{"index":{}}\n{"a":1}\n{"delete":{"_id":"A"}}\n', 3, "send the body to /_bulk"],
    [
      "with an event in place of an action",
      '{"index":{}}\n{"a":1}\n{"a":2}\n{"a":3}\n',
      3,
      "index or create",
    ],
    ["with a last action alone", '{"index":{}}\n{"a":1}\n{"index":{}}\n', 4, "no document after it"],
  ])("%s is refused, once", async (_name, text, line, rule) => {
    const { problems, total } = await refusalOf(text);
    expect({ total, problems }).toMatchObject({
      total: 1,
      problems: [{ line, rule: expect.stringContaining(rule) }],
    });
  });

  test("is told from events that have members of these names", async () => {
    const events = ['{"index":{"_index":"web","name":"x"}}', '{"index":"web"}', '{"create":{},"update":{}}'];
    for (const event of events) expect((await ingested(`${event}\n{"a":1}\n`)).sources[0]).toBe(event);
  });
});

describe("one JSON text with the events in it is refused, and the answer says what it is", () => {
  test.each([
    ["an array on one line", '[{"a":1},{"a":2}]', "jq -c '.[]'"],
    ["an array on several", '[\n  {"a":1},\n  {"a":2}\n]\n', "jq -c '.[]'"],
    ["an empty array", "[]", "jq -c '.[]'"],
    [
      "a search's answer",
      '{"took":1,"hits":{"total":1,"hits":[{"_source":{"a":1}}]}}',
      "jq -c '.hits.hits[]'",
    ],
    ["Splunk's answer", '{"preview":false,"init_offset":0,"results":[{"a":"1"}]}', "jq -c '.results[]'"],
  ])("%s", async (_name, text, how) => {
    const { problems, total } = await refusalOf(text);
    expect(total).toBe(1);
    expect(problems[0]?.rule).toContain(how);
  });

  test("but a CSV may begin with a bracket", async () => {
    expect(typesOf(await ingested("[time],level\n1,info\n"))).toEqual({ "[time]": "long", level: "text" });
  });
});
