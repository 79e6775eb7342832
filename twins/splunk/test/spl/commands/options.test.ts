import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../../spl/commands/registry.ts";
import {
  ignoredOptions,
  type UnservedOption,
  unservedOptions,
} from "../../../spl/syntax/unserved-options.ts";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench([{ a: 1 }]);
});
afterAll(() => bench.close());

/** One search for each command, with a placeholder for options. */
const searches: Readonly<Record<string, string>> = {
  appendpipe: "search * | appendpipe OPTION [stats count]",
  collect: "search * | collect index=main OPTION",
  eventstats: "search * | eventstats OPTION count",
  extract: "search * | extract OPTION",
  loadjob: "| loadjob 1.1 OPTION",
  lookup: "search * | lookup OPTION none a",
  makeresults: "| makeresults OPTION",
  metadata: "| metadata type=hosts OPTION",
  outputlookup: "search * | outputlookup OPTION t",
  rest: "| rest /services/x OPTION",
  stats: "search * | stats OPTION count",
  tstats: "| tstats OPTION count",
  typeahead: "| typeahead prefix=a count=1 OPTION",
};

describe("options that cannot be done are refused with their reason", () => {
  const cases = Object.entries(unservedOptions).flatMap(
    ([command, options]: [string, Record<string, UnservedOption>]) =>
      Object.entries(options).map(([option, { value, reason }]): [string, string, string] => [
        command,
        `${option}=${value ?? (option === "create_context" ? "user" : "x")}`,
        reason,
      ]),
  );
  test.each(cases)("%s %s", async (command, option, reason) => {
    expect(await bench.refusal((searches[command] ?? "").replace("OPTION", option))).toBe(
      `Error in '${command}' command: ${option} is not served here: ${reason}.`,
    );
  });
});

test("options without effect belong to served commands and are accepted", async () => {
  const names = new Set(commands.map(({ name }) => name));
  for (const [command, options] of Object.entries(ignoredOptions)) {
    expect(names).toContain(command);
    for (const option of options) {
      const search = (searches[command] ?? "").replace("OPTION", `${option}=1`);
      const found = await bench.search(search).catch((error: unknown) => String(error));
      expect(String(JSON.stringify(found))).not.toMatch(/Invalid (argument|option)/);
    }
  }
});

test("splunk_server= matches this server by name, wildcard or local; other servers have no rows", async () => {
  const count = async (server: string) =>
    (await bench.search(`| makeresults splunk_server=${server} | stats count`)).rows[0]?.count;
  expect(await count("local")).toBe(1);
  expect(await count("spl*")).toBe(1);
  expect(await count("idx1")).toBe(0);
  expect((await bench.search("| metadata type=hosts splunk_server=idx1")).rows).toEqual([]);
  expect((await bench.search("| metadata type=sourcetypes splunk_server=*")).rows).toHaveLength(1);
});
