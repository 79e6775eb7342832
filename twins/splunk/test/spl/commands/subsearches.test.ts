import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const tagged = [
  { field: "host", value: "www*", tags: ["web", "front"] },
  { field: "host", value: "db1", tags: ["data"] },
  { field: "user", value: "root", tags: ["admin"] },
];
let bench: SplBench;
beforeAll(async () => {
  bench = await splBench(
    [
      { user: "ada", n: 1 },
      { user: "bob", n: 2 },
      { user: "eve", n: 3 },
    ],
    {
      timeZone: "Europe/Berlin",
      knowledge: {
        tagged: () => tagged.flatMap(({ tags, ...pair }) => tags.map(() => pair)),
        tagsOf: (field, value) =>
          tagged.find((one) => one.field === field && one.value === value)?.tags ?? [],
        savedSearch: (name) =>
          name === "of user"
            ? { name, search: "search user=$user$ | table user n", earliest: undefined, latest: undefined }
            : undefined,
      },
    },
  );
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;
const searchOf = async (input: readonly object[], text: string) => (await rows(input, text))[0]?.search;

test("rule 12: format makes one search of the rows", async () => {
  const input = [
    { a: "x", b: 'say "hi"' },
    { a: ["y", "z"], _raw: "r" },
  ];
  expect(await searchOf(input, "format")).toBe(
    `( ( a="x" AND b="say \\"hi\\"" ) OR ( ( a="y" OR a="z" ) ) )`,
  );
  expect(await searchOf(input, `format maxresults=1 "[" "[" "&&" "]" "||" "]"`)).toBe(
    `[ [ a="x" && b="say \\"hi\\"" ] ]`,
  );
  expect(await searchOf(input, `format mvsep="|" "" "" "" "" "" ""`)).toContain(`a="y" | a="z"`);
  expect(await searchOf([], `format emptystr="none"`)).toBe("none");
  expect(await bench.refusal(`| makeresults | format "(" "("`)).toContain("Error in 'format' command:");
});

test("rule 12: return gives the first rows as terms, by a name or by their value alone", async () => {
  const input = [{ user: "ada", ip: "10.0.0.1" }, { user: "bob", ip: "10.0.0.2" }, { user: "eve" }];
  expect(await searchOf(input, "return user")).toBe(`user="ada"`);
  expect(await searchOf(input, "return src=ip")).toBe(`src="10.0.0.1"`);
  expect(await searchOf(input, "return $ip")).toBe("10.0.0.1");
  expect(await searchOf(input, "return 2 user, ip")).toBe(
    `(user="ada" ip="10.0.0.1") OR (user="bob" ip="10.0.0.2")`,
  );
  expect(await searchOf(input, "return 3 $ip")).toBe("(10.0.0.1) OR (10.0.0.2)");
  expect(await bench.refusal("| makeresults | return 3")).toContain("Error in 'return' command:");
});

test("rule 12: what return gives takes the place of the subsearch", async () => {
  const { rows: found } = await bench.search(
    `search [| makeresults count=2 | eval n=1 | accum n | return 2 n] | table user`,
  );
  expect(found).toEqual([{ user: "bob" }, { user: "ada" }]);
});

test("map runs a search for each row, with its values", async () => {
  expect(
    await rows([{ who: "ada" }, { who: "eve" }], `map search="search user=\\"$who$\\" | table user n"`),
  ).toEqual([
    { user: "ada", n: 1 },
    { user: "eve", n: 3 },
  ]);
  expect(
    await rows([{ q: 'a "b"' }], `map [makeresults | eval v="<$q$>", s=$_serial_id$ | table v s]`),
  ).toEqual([{ v: `<a "b">`, s: 1 }]);
  expect(await rows([{ user: "bob" }], `map "of user"`)).toEqual([{ user: "bob", n: 2 }]);
});

test("map runs ten searches unless it is told how many", async () => {
  const many = Array.from({ length: 12 }, (_, n) => ({ n }));
  const ten = await bench.searchRows(many, "map [makeresults | eval n=$n$ | table n]");
  expect(ten.rows).toHaveLength(10);
  expect(ten.messages).toEqual([expect.stringContaining("exceeds maximum (10)")]);
  expect(await rows(many, "map maxsearches=12 [makeresults | eval n=$n$ | table n]")).toEqual(many);
});

test("map says which field is missing, and which saved search there is not", async () => {
  expect(await bench.refusal("| makeresults | map [search user=$who$]")).toBe(
    "Error in 'map': Did not find value for required attribute 'who'.",
  );
  expect(await bench.refusal("| makeresults | map nothing")).toContain("nothing");
});

test("gentimes makes a row a day, by the local calendar", async () => {
  const { rows: found } = await bench.search("| gentimes start=10/24/2026 end=10/26/2026");
  expect(found).toEqual([
    {
      starttime: Date.UTC(2026, 9, 23, 22) / 1000,
      starthuman: "Sat Oct 24 00:00:00 2026",
      endtime: Date.UTC(2026, 9, 24, 22) / 1000 - 1,
      endhuman: "Sat Oct 24 23:59:59 2026",
    },
    {
      starttime: Date.UTC(2026, 9, 24, 22) / 1000,
      starthuman: "Sun Oct 25 00:00:00 2026",
      endtime: Date.UTC(2026, 9, 25, 23) / 1000 - 1,
      endhuman: "Sun Oct 25 23:59:59 2026",
    },
  ]);
});

test("gentimes counts days from today, and takes other increments", async () => {
  const { rows: twoDigits } = await bench.search("| gentimes start=10/24/26 end=10/26/26:00:00:00");
  expect(twoDigits).toEqual((await bench.search("| gentimes start=10/24/2026 end=10/26/2026")).rows);
  expect(twoDigits).toHaveLength(2);
  expect((await bench.search("| gentimes start=-2")).rows.map(({ starthuman }) => starthuman)).toEqual([
    "Tue Jan 13 00:00:00 2026",
    "Wed Jan 14 00:00:00 2026",
  ]);
  expect((await bench.search("| gentimes start=-1 increment=6h")).rows).toHaveLength(4);
  expect(
    (await bench.search("| gentimes start=1/1/2026:10:00:00 end=1/1/2026:10:00:30 increment=10s")).rows,
  ).toHaveLength(3);
  expect(await bench.refusal("| gentimes")).toContain("Error in 'gentimes' command:");
  expect(await bench.refusal("| gentimes start=tomorrow")).toContain("Invalid time");
});

test("tags adds the tags of each field's value", async () => {
  const input = [{ host: "www1", user: "root" }, { host: "db1" }, { host: "other" }];
  expect(await rows(input, "tags")).toEqual([
    { host: "www1", user: "root", "tag::host": ["front", "web"], "tag::user": ["admin"] },
    { host: "db1", "tag::host": ["data"] },
    { host: "other" },
  ]);
  expect(await rows(input, "tags outputfield=t host")).toEqual([
    { host: "www1", user: "root", t: ["front", "web"] },
    { host: "db1", t: ["data"] },
    { host: "other" },
  ]);
  expect((await rows(input, "tags outputfield=t inclname=t inclvalue=t user"))[0]?.t).toEqual([
    "user::root::admin",
  ]);
});
