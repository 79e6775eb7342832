import { DuckDBInstance } from "@duckdb/node-api";
import { processorMsOf } from "@offhook/platform/testing/processor-time";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FieldCatalog } from "../../fields.ts";
import { raw, sql } from "../../sql.ts";
import { read } from "../../store/duckdb.ts";
import { addFields, createTables } from "../../store/layout.ts";
import { buildPostings } from "../../store/postings.ts";
import { analyze, isAnalyzedSql, termsSql } from "../../text/analysis.ts";

const termsOf = (text: string) => analyze(text).map(({ term }) => term);

describe("the standard analyzer", () => {
  test.each([
    [
      "letters, digits and what joins them",
      "The 2 QUICK dog's a:b 1,000.5 x.y",
      "the|2|quick|dog's|a:b|1,000.5|x.y",
    ],
    ["what joins only its own kind", "1.a 3,b a,b 12:30 a..b 10.0.0.1", "1|a|3|b|a|b|12|30|a|b|10.0.0.1"],
    ["connectors, which are no word by themselves", "x_y _a_ ___ a1b2", "x_y|_a_|a1b2"],
    [
      "hyphens and slashes, which separate",
      "Brown-Foxes /var/log user@example.com",
      "brown|foxes|var|log|user|example.com",
    ],
    [
      "Han and Hiragana one by one, Katakana together",
      "日本です カタカナー カ_a",
      "日|本|で|す|カタカナー|カ_a",
    ],
    ["Hangul and Southeast Asian letters together", "한국어abc ไทยภาษา", "한국어abc|ไทยภาษา"],
    ["marks, which belong to what is before them", "e\u0301te\u0301 naïve", "e\u0301te\u0301|naïve"],
    ["Hebrew, whose words hold quotation marks", "צה\"ל ג'ירפה", "צה\"ל|ג'ירפה"],
    ["emoji as they are seen", "👨‍👩‍👧 👍🏽 🇩🇪🇫🇷 1️⃣ #️⃣", "👨‍👩‍👧|👍🏽|🇩🇪|🇫🇷|1️⃣|#️⃣"],
    ["lower case letter by letter", "ΣΑΣ İx ÄÖ", "σασ|ix|äö"],
    ["nothing at all", " - … \u200b ½", ""],
  ])("%s", (_name, text, terms) => {
    expect(termsOf(text).join("|")).toBe(terms);
  });

  test("cuts what is longer than 255 characters, where the last word in them ends", () => {
    expect(termsOf(`${"x".repeat(600)} y`).map(({ length }) => length)).toEqual([255, 255, 90, 1]);
    expect(termsOf("a.".repeat(200)).map(({ length }) => length)).toEqual([255, 143]);
    expect(termsOf("𝒳".repeat(200)).map(({ length }) => length)).toEqual([254, 146]);
  });

  test("says where in the text a term is", () => {
    expect(analyze("É: 日x")).toEqual([
      { term: "é", position: 1, start: 0, end: 1 },
      { term: "日", position: 2, start: 3, end: 4 },
      { term: "x", position: 3, start: 4, end: 5 },
    ]);
  });

  test.each(["_", "\u0301", "\u200d", "a:", "_\u0301", "é.", "カ_", "👍‍", "1,"])(
    "takes no longer than long for a long text of %j",
    (part) => {
      expect(processorMsOf(() => analyze(part.repeat(200_000)))).toBeLessThan(10_000);
    },
  );
});

describe("in the database", () => {
  let database: DuckDBInstance;
  beforeAll(async () => {
    database = await DuckDBInstance.create(":memory:");
  });
  afterAll(() => database.closeSync());

  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom(..."abz019_ .,:;'\"-XY\n"), maxLength: 12 }) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
    { weight: 2, arbitrary: fc.constantFrom("日本", "カ", "é", "İ", "Σ", "ก", "👍", "\u200d", 'ב"ג') },
    { weight: 1, arbitrary: fc.nat({ max: 600 }).map((length) => "long".repeat(length / 4)) },
  );
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("").replaceAll("\0", ""));

  test("texts of ASCII are cut as in the program", async () => {
    const connection = await database.connect();
    const texts = fc.sample(text, 2000);
    const json = JSON.stringify(texts);
    const { rows } = await read(
      connection,
      sql`SELECT text, ${termsSql(raw("text"))}, ${isAnalyzedSql(raw("text"))}
        FROM (SELECT unnest(from_json(${json}, '["VARCHAR"]')) AS text)`,
    );
    expect(rows).toHaveLength(2000);
    const simple = rows.filter(([, , isSimple]) => isSimple);
    expect(simple.length).toBeGreaterThan(200);
    for (const [text, terms] of simple) expect(terms).toEqual(termsOf(String(text)));
    connection.closeSync();
  });

  test("postings of any texts are what the program finds in them", async () => {
    const connection = await database.connect();
    await createTables(connection);
    const fields = await addFields(connection, new FieldCatalog([], undefined), [
      { name: "one", type: "text", multi: false },
      { name: "many", type: "text", multi: true },
    ]);
    const texts = fc.sample(fc.array(text, { minLength: 1, maxLength: 3 }), 500);
    await read(
      connection,
      sql`INSERT INTO documents SELECT row_number() OVER () - 1, 'x', 'logs', 1, 0, '{}', value[1], value
        FROM (SELECT unnest(from_json(${JSON.stringify(texts)}, '[["VARCHAR"]]')) AS value)`,
    );
    for (const name of ["one", "many"]) {
      const field = fields.get(name);
      if (!field?.postings) throw new Error(`no postings of ${name}`);
      await buildPostings(connection, field, 0);
      const { rows } = await read(
        connection,
        sql`SELECT _row, list(term ORDER BY position), max(length) FROM ${raw(field.postings)} GROUP BY 1`,
      );
      const found = new Map(rows.map(([row, terms, length]) => [row, { terms, length }]));
      texts.forEach((values, row) => {
        const terms = (name === "one" ? values.slice(0, 1) : values).flatMap(termsOf);
        expect(found.get(row)).toEqual(terms.length > 0 ? { terms, length: terms.length } : undefined);
      });
    }
    connection.closeSync();
  });
});
