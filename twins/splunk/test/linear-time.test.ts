/**
 * The time that a text from outside takes grows with its length, not with the square of it.
 * Proves a part of twins/SECURITY.md.
 */

import { liveClock } from "@offhook/platform/base/clock";
import { expectLinearTime, LONG } from "@offhook/platform/testing/linear-time";
import { processorMsSince } from "@offhook/platform/testing/processor-time";
import { describe, expect, test } from "vitest";
import { periodMs } from "../conf/period.ts";
import { sizeBytes } from "../conf/values.ts";
import { resolveTtlS } from "../saved/run-request.ts";
import { printf } from "../spl/eval/functions/printf.ts";
import { isNumeral } from "../spl/relation/typed.ts";
import { isLike } from "../spl/relation/wildcards.ts";
import { SplError } from "../spl/spl-error.ts";
import { valuesAt } from "../spl/structured/data-path.ts";
import { keyValues } from "../spl/structured/key-values.ts";
import { readXml } from "../spl/structured/xml-text.ts";
import { resolveTime } from "../spl/time/resolve-time.ts";
import { filterProblem } from "../world/search-rights.ts";
import { createTables } from "../world/tables.ts";
import { splBench } from "./support/spl.ts";

const pairOptions = { kvdelim: "=", pairdelim: ",", limit: 100, maxchars: 1e9, cleanKeys: true };
const many = (text: string) => text.repeat(LONG);

describe("a long text takes as long as it is long:", () => {
  test.each<[what: string, work: () => unknown]>([
    ["stars in a pattern", () => isLike(`${"a".repeat(300)}b`, "*a".repeat(200))],
    ["digits that end in a letter, as a number", () => isNumeral(`${many("0")}x`)],
    ["blanks within a size", () => sizeBytes(`1${many(" ")}G`)],
    ["blanks within a period", () => periodMs(`1${many(" ")}!`)],
    ["zeros in a printf format", () => printf(`%${many("0")}!`, [])],
    ["braces in a path", () => valuesAt("{}", `${many("}{")}x`)],
    ["tags that are not closed", () => readXml(`<a ${many('"<b" ')}`)],
    ["quotes within tags", () => readXml(`<x${many("A''")}<`)],
    ["one attribute without a value", () => readXml(`<a ${many("b")}>`)],
    ["declarations that are not closed", () => readXml(`<r>${many("<!")}`)],
    ["escaped quotes between pairs", () => keyValues(many('\\"'), pairOptions)],
    ["escaped quotes in a filter", () => filterProblem(`"${many('x\\"\\')}\\`)],
  ])("%s", (_, work) => {
    work();
    expectLinearTime(work);
  });

  test("a time that is no time", () => {
    const work = () =>
      expect(() => resolveTime(`${many("0")}x`, { nowMs: 0, timeZone: "UTC" })).toThrow("Invalid time");
    expectLinearTime(work);
  });

  test("the name of a password without an end", () => {
    const passwords = createTables().table("storage_passwords");
    const row = { name: `${many("::")}x`, username: "u", password_sha256: "0".repeat(64) };
    expectLinearTime(() => expect(() => passwords.insert(row)).toThrow("realm:user:"));
  });

  test("blanks within how long a run is kept", () => {
    const row = createTables().table("saved_searches").insert({ name: "n", search: "s" });
    expectLinearTime(() => resolveTtlS({ clock: liveClock, timeZone: "UTC" }, row, `1${many(" ")}!`));
  });

  test.each([
    ["the flags of a substitution", `makeresults | rex mode=sed "s/a/b/${"0".repeat(40)}x"`],
    [
      "blanks within a size to convert",
      `makeresults | eval a="1${" ".repeat(4 * LONG)}g!" | convert memk(a)`,
    ],
    ["what typeahead is to end", `typeahead count=1 prefix="${"a".repeat(4 * LONG)} b"`],
  ])("%s", async (_, search) => {
    const bench = await splBench();
    await bench.search("makeresults");
    const before = process.cpuUsage();
    await bench.search(search).catch((error: unknown) => expect(error).toBeInstanceOf(SplError));
    expect(processorMsSince(before)).toBeLessThan(2_000);
    await bench.close();
  });
});
