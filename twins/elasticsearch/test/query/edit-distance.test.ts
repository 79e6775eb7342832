import { sql } from "@offhook/log-store/sql";
import fc from "fast-check";
import { expect, test } from "vitest";
import { idsOf, storeOf } from "./support.ts";

/** Edit distance by exhaustive recursion: no edit touches the result of another one. */
function changesBetween(a: string, b: string, transpositions: boolean): number {
  const [from, to] = [[...a], [...b]];
  const table = from.concat("").map(() => to.concat("").map(() => 0));
  const at = (i: number, j: number) => table[i]?.[j] ?? Infinity;
  table.forEach((row, i) => {
    row.forEach((_, j) => {
      if (i === 0 || j === 0) row[j] = i + j;
      else {
        const other = from[i - 1] === to[j - 1] ? 0 : 1;
        const swapped = transpositions && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
        row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + other);
        if (swapped && i > 1 && j > 1) row[j] = Math.min(row[j] ?? 0, at(i - 2, j - 2) + 1);
      }
    });
  });
  return at(from.length, to.length);
}

const word = (least: number, most: number) =>
  fc
    .array(fc.constantFrom("a", "b", "c", "é", "ü", "日", "𝒳"), { minLength: least, maxLength: most })
    .map((characters) => characters.join(""));
/** A word, and variants of it. */
const alike = word(2, 14).chain((original) =>
  fc
    .array(fc.array(fc.tuple(fc.nat(), fc.constantFrom("a", "ü", "日", "x", "", "<>")), { maxLength: 3 }), {
      minLength: 12,
      maxLength: 12,
    })
    .map((changes) => ({
      original,
      others: changes.map((made) =>
        made
          .reduce(
            (characters, [place, change]) => {
              const at = place % Math.max(1, characters.length);
              const [one = "", other = ""] = characters.slice(at, at + 2);
              const changed = change === "<>" ? [other, one] : [change + one, other];
              return [...characters.slice(0, at), ...changed, ...characters.slice(at + 2)];
            },
            [...original],
          )
          .join(""),
      ),
    })),
);

test("fuzzy words are those within the edit distance in characters, whatever their bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      alike,
      fc.constantFrom(1, 2),
      fc.boolean(),
      async ({ original, others }, fuzziness, transpositions) => {
        const values = [original, ...others, "ab", "bca"].filter((value) => value !== "");
        const store = await storeOf(values.map((name) => ({ name })));
        try {
          for (const value of [original, "ab"]) {
            const fuzzy = {
              fuzzy: { "name.keyword": { value, fuzziness, transpositions, max_expansions: 100 } },
            };
            const near = values.flatMap((name, id) =>
              changesBetween(name, value, transpositions) <= fuzziness ? [String(id)] : [],
            );
            expect(await idsOf(store, fuzzy, "vendor"), value).toEqual(near);
          }
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: 15 },
  );
});

test.each([
  ["a letter with an accent is one character", "müller", "moller", 1, true],
  ["so is one outside the basic plane", "a𝒳c", "abc", 1, true],
  ["two neighbours the other way round are one change", "sérvice", "srévice", 1, true],
  ["what is put between the two makes it three", "ab", "bca", 2, false],
])("fuzziness: %s", async (_, written, asked, fuzziness, found) => {
  const store = await storeOf([{ name: written }]);
  try {
    for (const query of [
      { fuzzy: { "name.keyword": { value: asked, fuzziness } } },
      { match: { name: { query: asked, fuzziness } } },
    ])
      expect(await idsOf(store, query, "vendor")).toEqual(found ? ["0"] : []);
  } finally {
    await store.close();
  }
});

test("several fuzzy words fit into the store's memory: a relation named twice is not materialized", async () => {
  const store = await storeOf([{ name: "connection pool" }, { name: "conection" }, { name: "poll" }]);
  try {
    const query = { match: { name: { query: "connecton pol", fuzziness: "AUTO" } } };
    expect(await idsOf(store, query)).toEqual(["0", "1", "2"]);
    const { rows } = await store.query(sql`SELECT current_setting('disabled_optimizers')`);
    expect(rows).toEqual([["common_subplan"]]);
  } finally {
    await store.close();
  }
});
