import { expect, onTestFinished, test } from "vitest";
import { sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { QueryInterrupted } from "../../store/log-store.ts";
import {
  checkBetweenChunks,
  defineProgramFunction,
  defineRowFunction,
} from "../../store/program-functions.ts";

async function openStore() {
  const store = await openLogStore();
  onTestFinished(() => store.close());
  return store;
}

const reversed = defineRowFunction("test.reversed", (text) =>
  text === null ? null : [...text].reverse().join(""),
);
const failing = defineProgramFunction("test.failing", () => {
  throw new Error("this cannot be done");
});

test("a function of the program works on columns, bound values, and the values of a list", async () => {
  const store = await openStore();
  const many = await store.query(
    sql`SELECT count(*) FROM range(10000) AS t(n) WHERE ${reversed(sql`CAST(n AS VARCHAR)`)} = CAST(n AS VARCHAR)`,
  );
  expect(many.rows).toEqual([[199]]);
  const list = sql`list_transform(['ab', NULL, ''], lambda x: ${reversed(sql`x`)})`;
  const { rows } = await store.query(sql`SELECT ${reversed(sql`${"äbc€"}`)}, ${list}`);
  expect(rows).toEqual([["€cbä", ["ba", null, ""]]]);
});

test("an error of a program function fails the statement, and TRY makes it NULL", async () => {
  const store = await openStore();
  await expect(store.query(sql`SELECT ${failing(sql`'x'`)}`)).rejects.toThrow("this cannot be done");
  expect((await store.query(sql`SELECT TRY(${failing(sql`'x'`)})`)).rows).toEqual([[null]]);
});

test("a statement that calls the program is ended by its deadline like any other", async () => {
  const store = await openStore();
  const endless = sql`SELECT count(${reversed(sql`CAST(n AS VARCHAR)`)}) FROM range(1000000000) AS t(n)`;
  await expect(store.query(endless, { deadlineMs: 100 })).rejects.toThrow(QueryInterrupted);
});

test("a deadline is checked between chunks, although several threads pass them back to back", async () => {
  const store = await openStore();
  let chunks = 0;
  const slow = defineProgramFunction("test.slow", ([texts = []]) => {
    chunks++;
    for (const until = performance.now() + 5; performance.now() < until; );
    return texts;
  });
  const rows = sql`SELECT unnest(range(n * 1000, n * 1000 + 1000)) AS n FROM (SELECT DISTINCT n FROM range(800) AS t(n))`;
  const both = sql`SELECT count(${slow(sql`CAST(n AS VARCHAR)`)}) FROM (${rows})`;
  await expect(store.query(both, { deadlineMs: 50 })).rejects.toMatchObject({ reason: "deadline" });
  // Ten chunks take that long, and all of them are 390.
  expect(chunks).toBeLessThan(100);
});

const slow = defineProgramFunction("test.turn", ([texts = []]) => {
  for (const until = performance.now() + 1; performance.now() < until; );
  return texts;
});
const many = sql`(SELECT unnest(range(n * 1000, n * 1000 + 1000)) AS n FROM (SELECT DISTINCT n FROM range(400) AS t(n)))`;
const called = slow(sql`CAST(n AS VARCHAR)`);
const inLists = sql`list_transform([CAST(n AS VARCHAR)], lambda x: ${slow(sql`x`)})`;
for (const [where, statement] of [
  ["what is counted", sql`SELECT count(${called}) FROM ${many} AS r`],
  ["a call of a call", sql`SELECT count(${slow(called)}) FROM ${many} AS r`],
  ["what rows are chosen by", sql`SELECT count(*) FROM ${many} AS r WHERE ${called} <> ''`],
  [
    "what rows are grouped by",
    sql`SELECT count(*) FROM (SELECT ${called} AS g FROM ${many} AS r) AS s GROUP BY g`,
  ],
  [
    "a part of an expression",
    sql`SELECT count(*) FROM (SELECT * FROM ${many} AS r WHERE len(${inLists}) = 1) AS s`,
  ],
  [
    "groups",
    sql`SELECT count(a) FROM (SELECT n // 2, ${slow(sql`CAST(max(n) AS VARCHAR)`)} AS a FROM ${many} AS r GROUP BY n // 2) AS s`,
  ],
  [
    "one side of a union",
    sql`SELECT count(a) FROM (SELECT 'x' AS a UNION ALL SELECT ${called} FROM ${many} AS r) AS s`,
  ],
] as const) {
  test(`others have their turn between the chunks of ${where}`, async () => {
    const store = await openStore();
    const inOneTurn = [0];
    let open = true;
    const turn = () => {
      inOneTurn.push(0);
      if (open) setImmediate(turn);
    };
    turn();
    const answer = store.query(statement).finally(() => {
      open = false;
    });
    await checkBetweenChunks(() => inOneTurn.push((inOneTurn.pop() ?? 0) + 1), answer);
    expect(inOneTurn.reduce((sum, chunks) => sum + chunks)).toBeGreaterThan(90);
    expect(Math.max(...inOneTurn.filter((chunks) => chunks > 0))).toBeLessThan(8);
  });
}

test("an argument that is the same in every row is handed over as it is, in its place", async () => {
  const store = await openStore();
  const between = defineRowFunction("test.between", (left, text, right) => `${left}${text}${right}`);
  const { rows } = await store.query(
    sql`SELECT ${between(sql`CAST(${"<"} AS VARCHAR)`, sql`CAST(n AS VARCHAR)`, sql`CAST(${">"} AS VARCHAR)`)} FROM range(3) AS t(n) ORDER BY n`,
  );
  expect(rows).toEqual([["<0>"], ["<1>"], ["<2>"]]);
  expect(
    (
      await store.query(
        sql`SELECT ${between(...["a", "b", "c"].map((text) => sql`CAST(${text} AS VARCHAR)`))}`,
      )
    ).rows,
  ).toEqual([["abc"]]);
});
