import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { Command } from "../support/command.ts";

/** Each prints at once: its usage, or what is wrong with its arguments. */
const COMMANDS: [string, string[]][] = [
  ["demo.ts", ["--help"]],
  ["dial.ts", ["--help"]],
  ["dataset.ts", ["--help"]],
  ["samples.ts", ["--help"]],
  ["fuzz.ts", ["--help"]],
  ["bench.ts", ["no-such-bench"]],
  ["../twins/splunk/coverage/main.ts", []],
];
/** A fork has taken some of them away with their twins. */
const present = COMMANDS.filter(([file]) => existsSync(new URL(`../../scripts/${file}`, import.meta.url)));

test.concurrent.each(present)("%s ends by itself when nobody reads what it prints", async (file, args) => {
  const command = new Command(file, args);
  command.closeOutput();
  const { exitCode } = await command.finished();
  // An error that nobody handles ends with 1, or with 7 within the handler of one.
  expect([0, 2]).toContain(exitCode);
});
