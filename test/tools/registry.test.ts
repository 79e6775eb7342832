import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadTools } from "../../tools/registry.ts";

const folder = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

test("every file of the folder is a tool; the contract, the registry and tests are not", async () => {
  const files = readdirSync(new URL("../../tools", import.meta.url));
  const tools = files.filter((name) => /^(?!tool\.|registry\.).*(?<!\.test|\.d)\.ts$/.test(name));
  expect((await loadTools()).all()).toHaveLength(tools.length);
  const good = await loadTools(folder("good"));
  expect(good.all().map((tool) => tool.name)).toEqual(["say_hello"]);
  expect(good.get("nobody")).toBeUndefined();
});

test("the zod schema becomes the JSON schema the model sees; what has a default is optional", async () => {
  const tools = await loadTools(folder("good"));
  const tool = tools.get("say_hello");
  if (tool === undefined) throw new Error("say_hello is missing");
  expect(tools.jsonSchemaOf(tool)).toEqual({
    type: "object",
    properties: {
      name: { type: "string", description: "Whom to greet" },
      times: expect.objectContaining({ type: "integer", default: 1 }),
    },
    required: ["name"],
  });
});

test("broken files fail the start, all of them at once, each with its name and the reason", async () => {
  const message = await loadTools(folder("broken")).then(
    () => "",
    (error) => String(error),
  );
  expect(message).toMatch(/bad-members\.js: name must be 1 to 64.*description must say.*parameters must be/);
  expect(message).toMatch(/bad-members\.js: .*timeoutMs .*run must be a function/);
  expect(message).toMatch(/no-default\.js: has no default export/);
  expect(message).toMatch(/no-schema\.js: parameters have no JSON schema: .*[Dd]ate/);
  expect(message).toMatch(/throws\.js: its import fails/);
});

test("two tools of one name fail the start, with both files", async () => {
  await expect(loadTools(folder("duplicates"))).rejects.toThrow(
    /two\.js: the name say_hello is taken by one\.js/,
  );
});
