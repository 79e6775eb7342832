/** Commands that join rows with the rows of a subsearch. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const events = [
  { _time: "2026-01-15T10:00:00Z", kind: "order", id: 1, item: "pen" },
  { _time: "2026-01-15T10:01:00Z", kind: "price", item: "pen", id: 7, price: 2 },
  { _time: "2026-01-15T10:02:00Z", kind: "order", id: 2, item: "ink" },
  { _time: "2026-01-15T10:03:00Z", kind: "order", id: 3, item: "pen" },
  { _time: "2026-01-15T10:04:00Z", kind: "price", item: "pen", id: 8, price: 3, color: "blue" },
];

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench(events);
});
afterAll(() => bench.close());

const orders = "search kind=order | fields id, item | fields - _*";
const prices = "[search kind=price | fields item, price, color | fields - _*]";
const rows = async (text: string) => (await bench.search(text)).rows;

test("rule 60: join keeps rows that agree with one of the subsearch, and takes its first row", async () => {
  expect(await rows(`${orders} | join item ${prices}`)).toEqual([
    { id: 3, item: "pen", price: 3, color: "blue" },
    { id: 1, item: "pen", price: 3, color: "blue" },
  ]);
});

test("rule 60: join type=left and type=outer keep rows that agree with none", async () => {
  const found = [
    { id: 3, item: "pen", price: 3, color: "blue" },
    { id: 2, item: "ink" },
    { id: 1, item: "pen", price: 3, color: "blue" },
  ];
  expect(await rows(`${orders} | join type=left item ${prices}`)).toEqual(found);
  expect(await rows(`${orders} | join item type=outer ${prices}`)).toEqual(found);
});

test("rule 60: join max=0 joins each row with all that agree, max=n with so many", async () => {
  const found = [
    { id: 3, item: "pen", price: 3, color: "blue" },
    { id: 3, item: "pen", price: 2 },
    { id: 1, item: "pen", price: 3, color: "blue" },
    { id: 1, item: "pen", price: 2 },
  ];
  expect(await rows(`${orders} | join max=0 item ${prices}`)).toEqual(found);
  expect(await rows(`${orders} | join max=2 item ${prices}`)).toEqual(found);
});

test("rule 60: the first max rows of each key of a report are joined; a row without a key joins none", async () => {
  const report =
    '[search kind=price | stats count by price, item | append [search kind=price | stats max(id) AS price] | append [search kind=price | stats min(id) AS price | eval item="null"] | fields item price]';
  const joined = async (options: string) =>
    (await rows(`${orders} | join ${options} item ${report}`)).map(({ id, price }) => [id, price]);
  expect(await joined("")).toEqual([
    [3, 2],
    [1, 2],
  ]);
  expect(await joined("max=2")).toEqual([
    [3, 2],
    [3, 3],
    [1, 2],
    [1, 3],
  ]);
  const nulls = `search kind=order id=2 | eval item="null" | fields id, item | fields - _*`;
  expect(await rows(`${nulls} | join item ${report}`)).toEqual([{ id: 2, item: "null", price: 7 }]);
});

test("rule 60: join without fields uses all that both have", async () => {
  expect(await rows(`${orders} | join [search kind=price | fields item, price | fields - _*]`)).toHaveLength(
    2,
  );
  expect(await rows(`${orders} | join [search kind=price | fields id, item, price | fields - _*]`)).toEqual(
    [],
  );
  expect(await rows(`${orders} | join [search kind=price | fields price | fields - _*]`)).toEqual([]);
});

test("rule 60: join overwrites fields of the same name unless overwrite=f; what is missing overwrites nothing", async () => {
  const other = "[search kind=price | fields item, id | fields - _*]";
  expect(await rows(`${orders} | join item ${other}`)).toEqual([
    { id: 8, item: "pen" },
    { id: 8, item: "pen" },
  ]);
  expect(await rows(`${orders} | join overwrite=f item ${other}`)).toEqual([
    { id: 3, item: "pen" },
    { id: 1, item: "pen" },
  ]);
  expect(await rows(`${orders} | join type=left item ${other}`)).toEqual([
    { id: 8, item: "pen" },
    { id: 2, item: "ink" },
    { id: 8, item: "pen" },
  ]);
});

test("join usetime=t joins with earlier rows, or with later ones", async () => {
  const timed = "search kind=order | fields id, item";
  const found = async (options: string) =>
    await rows(
      `${timed} | join ${options} item [search kind=price | fields item, price] | fields id, price | fields - _*`,
    );
  expect(await found("usetime=t")).toEqual([{ id: 3, price: 2 }]);
  expect(await found("usetime=t earlier=f")).toEqual([
    { id: 3, price: 3 },
    { id: 1, price: 3 },
  ]);
  expect(await found("usetime=t earlier=f max=0 type=left")).toEqual([
    { id: 3, price: 3 },
    { id: 2 },
    { id: 1, price: 3 },
    { id: 1, price: 2 },
  ]);
});

test("join with aliases joins fields of different names, and names the fields after their side", async () => {
  const goods = "[search kind=price | rename item as good | fields good, price | fields - _*]";
  expect(
    await rows(`${orders} | join left=L right=R where L.item=R.good ${goods} | fields L.id, R.price`),
  ).toEqual([
    { "L.id": 3, "R.price": 3 },
    { "L.id": 1, "R.price": 3 },
  ]);
  expect(await bench.refusal(`${orders} | join left=L right=R where item=R.good ${goods}`)).toContain(
    "must begin with the alias 'L'",
  );
});

test("rule 12: the subsearch of a join gives 50,000 rows at most, and the search says when it was cut", async () => {
  const few = await splBench(events, { limits: { joinMaxRows: 1 } });
  const { rows: found, messages } = await few.search(`${orders} | join item max=0 ${prices}`);
  await few.close();
  expect(found).toHaveLength(2);
  expect(messages).toEqual(["[subsearch]: Subsearch produced 2 results, truncating to maxout 1."]);
});

test("join compares a number with a text that looks the same", async () => {
  expect(
    await rows(
      `${orders} | join id [search kind=order id=2 | eval id="2", x=1 | fields id, x | fields - _*]`,
    ),
  ).toEqual([{ id: 2, item: "ink", x: 1 }]);
});

test("join without a subsearch, or with an option it has not, is refused", async () => {
  expect(await bench.refusal("search a | join item")).toBe(
    "Error in 'join' command: Usage: join (<join-options>)* <join-constraint> <dataset>.",
  );
  expect(await bench.refusal(`search a | join kind=inner item ${prices}`)).toContain("Invalid option 'kind'");
  expect(await bench.refusal(`search a | join type=cross item ${prices}`)).toContain("Invalid option value");
});
