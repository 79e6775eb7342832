import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commandList, summaries } from "../../spl/commands/list.ts";
import { commands, findCommand, notServed } from "../../spl/commands/registry.ts";

const names = commands.flatMap(({ name, aliases }) => [name, ...aliases]);

test("each name is of one command, served or refused", () => {
  const all = [...names, ...notServed];
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
  expect(all.filter((name) => name !== name.toLowerCase())).toEqual([]);
  for (const name of names) expect(findCommand(name)).toBeDefined();
  for (const name of notServed) expect(() => findCommand(name)).toThrow(`Error in '${name}' command:`);
});

test("each command that is served says what it does", () => {
  expect(commands.map(({ name }) => name).filter((name) => summaries[name] === undefined)).toEqual([]);
});

test("the commands are listed as they are declared", () => {
  const file = new URL("../../spl/COMMANDS.md", import.meta.url);
  expect(readFileSync(file, "utf8").slice(0, commandList().length)).toBe(commandList());
});
