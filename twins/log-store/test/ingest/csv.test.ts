import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ingested, refusalOf, typesOf } from "../../testing/ingested.ts";

describe("CSV", () => {
  test("quotes, doubled quotes, separators and line breaks in quotes, CRLF and a byte order mark", async () => {
    const { rows, sources } = await ingested('\ufeffa,b\r\n"x,y","say ""hi"""\r\n"two\r\nlines",plain\r\n');
    expect(rows).toEqual([
      { a: "x,y", b: 'say "hi"' },
      { a: "two\r\nlines", b: "plain" },
    ]);
    expect(sources).toEqual(['{"a":"x,y","b":"say \\"hi\\""}', '{"a":"two\\r\\nlines","b":"plain"}']);
  });

  test.each([
    [",", "a,b,c\n1,x;y,z\n"],
    [";", "a;b;c\n1;x,y;z\n"],
    ["a tab", "a\tb\tc\n1\tx,y\tz\n"],
    ["|", "a|b|c\n1|x,y|z\n"],
    ["; although a name in quotes has commas", '"a,,,,";b;c\n1;x;z\n'],
  ])("the separator is what the header has most of: %s", async (_name, text) => {
    expect((await ingested(text)).description.columns).toHaveLength(3);
  });

  test("a single column needs no separator", async () => {
    expect((await ingested("word\nhello\nworld\n")).rows).toEqual([{ word: "hello" }, { word: "world" }]);
  });

  test("an empty value is missing, in quotes as well, and not in the event", async () => {
    const { rows, sources } = await ingested('a,b,c\n1,,""\n,2,x');
    expect(rows).toEqual([
      { a: "1", b: null, c: null },
      { a: null, b: "2", c: "x" },
    ]);
    expect(sources).toEqual(['{"a":1}', '{"b":2,"c":"x"}']);
  });

  test("empty lines are no records; the last line needs no end", async () => {
    expect((await ingested("a,b\n\n1,2\r\n\r\n3,4")).rows).toHaveLength(2);
  });

  test("a quote inside a value without quotes is a character, and spaces are kept", async () => {
    expect((await ingested('a,b\n5" disk, x \n')).rows).toEqual([{ a: '5" disk', b: " x " }]);
  });

  test("a carriage return alone is part of its value", async () => {
    expect((await ingested("a,b\nx\ry,z\n")).rows).toEqual([{ a: "x\ry", b: "z" }]);
  });

  test("control characters and a zero byte go through", async () => {
    const odd = "\u001f\u001e\u001d\u001b\u0000";
    expect((await ingested(`a,b\n${odd},"${odd}\n${odd}"\n`)).rows).toEqual([
      { a: odd, b: `${odd}\n${odd}` },
    ]);
  });

  test("names that differ in case alone, or are DuckDB's own, are columns of their own", async () => {
    const result = await ingested("Level,level,rowid,_row,select\n1,2,3,4,5\n");
    expect(typesOf(result)).toEqual({
      Level: "long",
      level: "long",
      rowid: "long",
      _row: "long",
      select: "long",
    });
    expect(result.sources).toEqual(['{"Level":1,"level":2,"rowid":3,"_row":4,"select":5}']);
  });

  test("columns _id and _index are the document's and no fields; a row without has its number", async () => {
    const { ids, indices, rows, sources } = await ingested("_index,_id,a\nweb,x,1\n,,2\n");
    expect(ids).toEqual(["x", "row-1"]);
    expect(indices).toEqual(["web", "logs"]);
    expect(rows).toEqual([{ a: "1" }, { a: "2" }]);
    expect(sources).toEqual(['{"a":1}', '{"a":2}']);
  });
});

describe("a CSV file is refused", () => {
  test.each([
    [
      "with too few values",
      "a,b\n1,2\n3\n",
      [{ line: 3, column: 2, rule: "the record has 1 value, the header names 2 columns" }],
    ],
    [
      "with too many values",
      "a\n1,2\n",
      [{ line: 2, column: 4, rule: "the record has 2 values, the header names 1 column" }],
    ],
    [
      "with a ragged record of several lines",
      'a,b\n"x\ny"\n',
      [{ line: 2, rule: "the record has 1 value, the header names 2 columns" }],
    ],
    [
      "with a quote that is never closed",
      'a,b\n1,"x\n2,y\n',
      [{ line: 2, column: 3, rule: "the quote opened here is never closed" }],
    ],
    [
      "with text after a closing quote",
      'a,b\n"x" ,2\n',
      [
        {
          line: 2,
          column: 4,
          rule: "after the quote that ends a value comes a separator or the end of the line",
        },
      ],
    ],
    [
      "with a name twice",
      "a,b,a\n1,2,3\n",
      [{ line: 1, rule: 'the header names "a" twice: columns 1 and 3' }],
    ],
    [
      "with the whole events of an export in a column",
      '_id,_index,_source\nA,web,"{""a"":1}"\n',
      [
        {
          line: 1,
          rule: "a record of a CSV is an event, each value in a column; whole events in a column _source are to be sent as NDJSON",
        },
      ],
    ],
    [
      "with a column whose name no field can have",
      "_id,_version,a\nA,1,2\n",
      [{ line: 1, rule: 'no field can be called "_version"; leave the column out, or call it otherwise' }],
    ],
    [
      "with an empty name",
      "a,,c\n1,2,3\n",
      [{ line: 1, rule: "the header must name every column; column 2 has no name" }],
    ],
    [
      "with a name that no field can have",
      "a,c\0d\n1,2\n",
      [{ line: 1, rule: 'the name of column 2, "c\\u0000d", has the character U+0000 in it' }],
    ],
    [
      "with a header alone that is not closed",
      '"a,b',
      [{ line: 1, rule: "a quote of the header is never closed" }],
    ],
    [
      "whose lines end in carriage returns alone",
      "a,b\r1,2\r",
      [{ line: 1, rule: expect.stringContaining("line feed") }],
    ],
    [
      "with two rows of one id",
      "_id,a\nx,1\ny,2\nx,3\n",
      [{ line: 4, rule: 'the id "x" is that of line 2 already' }],
    ],
  ])("%s", async (_name, text, problems) => {
    expect(await refusalOf(text, { format: "csv" })).toMatchObject({ problems, total: 1 });
  });

  test.each([
    ["that is empty", "", "the file is empty"],
    ["without rows", "a,b\n", "the file has no rows"],
    ["in UTF-16", Buffer.from("\ufeffa,b\n1,2\n", "utf16le"), "the file is in UTF-16; it must be in UTF-8"],
  ])("%s", async (_name, text, message) => {
    expect(await refusalOf(text)).toMatchObject({ message });
  });

  test("in another encoding, each line named once", async () => {
    const { problems, total } = await refusalOf(Buffer.from("a,b\nx,é\nü,öä\nz,z\n", "latin1"));
    expect(total).toBe(2);
    expect(problems).toEqual([
      { line: 2, column: 3, rule: "the text is not UTF-8 here" },
      { line: 3, column: 1, rule: "the text is not UTF-8 here" },
    ]);
  });

  test("the first hundred problems are named, all are counted, in the order of their lines", async () => {
    const { problems, total } = await refusalOf(`a,b\n${"1\n1,2\n".repeat(300)}`);
    expect(total).toBe(300);
    expect(problems).toHaveLength(100);
    expect(problems.map(({ line }) => line)).toEqual(
      Array.from({ length: 100 }, (_, index) => 2 + index * 2),
    );
  });

  test("columns are counted in characters", async () => {
    expect((await refusalOf("a,b\nüü😀\n")).problems).toMatchObject([{ line: 2, column: 4 }]);
  });
});

describe("however it is cut into chunks", () => {
  const text = '\ufeffname;"va""lue"\r\n"ä;\r\n""😀""";\r\n\r\nx;"y\u001f"\r\n"";2\r\n';

  test("a file is the same", async () => {
    const whole = await ingested(text);
    const bytes = Buffer.from(text);
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect((await ingested(single)).rows).toEqual(whole.rows);
    expect(whole.rows).toEqual([
      { name: 'ä;\r\n"😀"', 'va"lue': null },
      { name: "x", 'va"lue': "y\u001f" },
      { name: null, 'va"lue': "2" },
    ]);
  });

  test("its problems are the same", async () => {
    const wrong = Buffer.concat([
      Buffer.from('a,b\nä,1\nü\n"x"y,2\n'),
      Buffer.from([0xe4, 0xff]),
      Buffer.from(',"\n'),
    ]);
    const whole = await refusalOf(wrong, { format: "csv" });
    const single = await refusalOf(
      Array.from(wrong, (byte) => Buffer.from([byte])),
      { format: "csv" },
    );
    expect(single.problems).toEqual(whole.problems);
    expect(whole.total).toBe(4);
  });
});

test("any table comes out as it went in", async () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom("a", '"', ",", "\n", "\r", ";", " ", "\u001e", "\u001f", "\u001d"),
      maxLength: 8,
    }),
    fc.integer().map(String),
    fc.constantFrom("007", "1.50", "-0", "1e400", "true", "2024-02-30", "9223372036854775808", "NaN"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 60 }),
      fc.constantFrom("\n", "\r\n"),
      fc.constantFrom(",", ";", "\t", "|"),
      async (table, lineEnd, separator) => {
        const quote = (value: string) => `"${value.replaceAll('"', '""')}"`;
        const lines = [["one", "two", "three"], ...table].map((values) => values.map(quote).join(separator));
        const { sources } = await ingested(lines.map((line) => line + lineEnd).join(""));
        expect(sources.map((source) => spelledValues(source))).toEqual(table.map((values) => [...values]));
      },
    ),
    { numRuns: 12 },
  );
});

/** The values of an event as they were spelled in CSV. */
function spelledValues(source: string): string[] {
  const literal = (name: string) => {
    const match = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]+)`).exec(source);
    const text = match?.[1] ?? '""';
    return text.startsWith('"') ? String(JSON.parse(text)) : text;
  };
  return ["one", "two", "three"].map(literal);
}
