import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;
const fails = (text: string) => bench.refusal(`| makeresults | ${text}`);

test("replace: whole values, in all fields or in those that are named", async () => {
  const input = [{ a: "127.0.0.1", b: "127.0.0.1", c: "x127.0.0.1" }];
  expect(await rows(input, "replace 127.0.0.1 with localhost")).toEqual([
    { a: "localhost", b: "localhost", c: "x127.0.0.1" },
  ]);
  expect(await rows(input, "replace 127.0.0.1 with localhost in b c")).toEqual([
    { a: "127.0.0.1", b: "localhost", c: "x127.0.0.1" },
  ]);
  expect(
    await rows([{ level: 0 }, { level: 1 }, { level: 7 }], "replace 0 with Critical, 1 with Error in level"),
  ).toEqual([{ level: "Critical" }, { level: "Error" }, { level: "7" }]);
});

test("replace: wildcards, whose matches go where the others are", async () => {
  const input = [{ host: "web localhost" }, { host: "a.b.c" }, { host: "x" }];
  expect(await rows(input, `replace "* localhost" with "localhost *", *.*.c with c.*.* in host`)).toEqual([
    { host: "localhost web" },
    { host: "c.a.b" },
    { host: "x" },
  ]);
  expect(await rows([{ host: "mylocalhost" }], "replace *localhost with localhost in host")).toEqual([
    { host: "localhost" },
  ]);
  expect(await rows([{ x: "back\\slash" }], `replace back* with "\\\\1*"`)).toEqual([{ x: "\\1\\slash" }]);
  expect(await fails("replace a with b*")).toContain("Error in 'replace' command");
  expect(await fails("replace a")).toContain("Error in 'replace' command");
});

test("replace: later values go before earlier ones, and fuller wildcards before lesser ones", async () => {
  expect(
    await rows(
      [{ x: "abc" }, { x: "abd" }],
      "replace abc with one, a* with two, ab* with three, abc with four",
    ),
  ).toEqual([{ x: "four" }, { x: "three" }]);
});

test("rangemap: names the range that a number is in", async () => {
  const input = [{ n: 5 }, { n: 35 }, { n: 100 }, { x: 1 }];
  expect(await rows(input, "rangemap field=n green=1-30 blue=31-39 default=gray")).toEqual([
    { n: 5, range: "green" },
    { n: 35, range: "blue" },
    { n: 100, range: "gray" },
    { x: 1, range: "gray" },
  ]);
  expect(await rows([{ n: -3 }, { n: 50 }], "rangemap field=n low=-5--1")).toEqual([
    { n: -3, range: "low" },
    { n: 50, range: "None" },
  ]);
  expect(await rows([{ n: 5 }, { n: 50 }], "rangemap field=n a=1-10 b=5-20")).toEqual([
    { n: 5, range: ["a", "b"] },
    { n: 50, range: ["None"] },
  ]);
  expect(await rows([{ "avg(n)": 5 }], "rangemap field=avg(n) low=0-9 default=high")).toEqual([
    { "avg(n)": 5, range: "low" },
  ]);
  expect(await rows([{ n: 5 }], "rangemap field=n default=none")).toEqual([{ n: 5, range: "none" }]);
  expect(await fails("rangemap field=n")).toContain("At least one range is needed");
  expect(await fails("rangemap green=1-30")).toContain("Error in 'rangemap' command");
  expect(await fails("rangemap field=n green=x")).toContain("Error in 'rangemap' command");
});

test("convert: every conversion", async () => {
  const input = [
    {
      t: 1768467907,
      d: "1+00:10:15",
      m: "3m",
      s: "02:03.5",
      u: "212 sec",
      c: "1,234.5",
      when: "01/15/2026 09:05:07",
      x: "word",
    },
  ];
  const conversions = "ctime(t) dur2sec(d) memk(m) mstime(s) rmunit(u) rmcomma(c) mktime(when) num(x)";
  expect(await rows(input, `convert ${conversions} | eval sum=d+m+s+u+c+when`)).toEqual([
    {
      t: "01/15/2026 09:05:07",
      d: "87015",
      m: "3072",
      s: "123.5",
      u: "212",
      c: "1234.5",
      when: "1768467907",
      sum: String(87015 + 3072 + 123.5 + 212 + 1234.5 + 1768467907),
    },
  ]);
});

test("convert: a format, other names, wildcards, and fields that are left alone", async () => {
  expect(await rows([{ t: 1768467907 }], `convert timeformat="%H:%M" ctime(t) AS clock`)).toEqual([
    { t: 1768467907, clock: "09:05" },
  ]);
  expect(await rows([{ t: 1768467907 }], `convert ctime(t) AS clock timeformat="%H:%M"`)).toEqual([
    { t: 1768467907, clock: "09:05" },
  ]);
  expect(await rows([{ x_a: "1k", x_b: "2k" }], "convert memk(x_*) as kb_* none(x_b)")).toEqual([
    { x_a: "1k", x_b: "2k", kb_a: "1" },
  ]);
});

test("convert: none gives a value another name, as it is", async () => {
  expect(await rows([{ g: "a", n: "1k" }], "convert memk(n) none(g) AS m")).toEqual([
    { g: "a", n: "1", m: "a" },
  ]);
});

test("convert: auto converts all values of a field, or none", async () => {
  const input = [{ a: "1,000", b: "1" }, { a: "00:01:00", b: "two" }, { b: "3" }];
  expect(await rows(input, "convert auto(*)")).toEqual([
    { a: "1000", b: "1" },
    { a: "60", b: "two" },
    { b: "3" },
  ]);
});

test("convert: what is no conversion is refused", async () => {
  expect(await fails("convert nonsense(x)")).toContain("Error in 'convert' command");
  expect(await fails("convert num")).toContain("Error in 'convert' command");
  expect(await fails("convert")).toContain("Error in 'convert' command");
});

test("rule 32: searchmatch is what search would find", async () => {
  const input = [
    { _raw: "GET /index 404", status: 404 },
    { _raw: "get /other", status: 200 },
  ];
  expect(await rows(input, `where searchmatch("get status>300")`)).toEqual(input.slice(0, 1));
  expect(await rows(input, `where NOT searchmatch("status=404")`)).toEqual(input.slice(1));
});

test("rule 12: a subsearch within an expression is read as one", async () => {
  const input = [{ a: 1 }, { a: 2 }];
  expect(await rows(input, "where [makeresults | eval a=2 | table a]")).toEqual([{ a: 2 }]);
  expect(await rows(input, `eval b=[makeresults | eval search="40+2" | table search]`)).toEqual([
    { a: 1, b: 42 },
    { a: 2, b: 42 },
  ]);
});

test("iplocation: the country of an address, by the table that comes with the twin", async () => {
  const country = async (ip: unknown, text = "iplocation ip") => (await rows([{ ip }], text))[0];
  const empty = { City: "", Region: "", lat: "", lon: "" };
  expect(await country("8.8.8.8")).toEqual({ ip: "8.8.8.8", Country: "United States", ...empty });
  expect(await country("133.1.2.0/24")).toEqual({ ip: "133.1.2.0/24", Country: "Japan", ...empty });
  expect(
    await country(["81.2.69.142", "8.8.8.8"], "iplocation lang=de ip prefix=x_ | fields x_Country"),
  ).toEqual({
    x_Country: "Vereinigtes Königreich",
  });
  expect(
    Object.keys((await country("8.8.8.8", "iplocation allfields=t ip | fields - ip")) ?? {}).sort(),
  ).toEqual(["City", "Continent", "Country", "MetroCode", "Region", "Timezone", "lat", "lon"]);
  expect(await fails("iplocation lang=x-- ip")).toContain("Invalid option value");
});

test.each(["10.1.2.3", "192.168.0.1", "127.0.0.1", "2001:db8::1", "host", "8.8.8", ""])(
  "iplocation: %j has no location, and keeps its fields",
  async (ip) => {
    expect(await rows([{ ip, City: "home" }], "iplocation ip")).toEqual([{ ip, City: "home" }]);
  },
);
