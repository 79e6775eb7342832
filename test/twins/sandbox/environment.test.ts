import { describe, expect, test } from "vitest";
import { z } from "zod";
import engine from "../../../twins/engine/index.ts";
import { EnvironmentError, readEnvironment } from "../../../twins/sandbox/environment.ts";
import { createShop } from "../../support/shop-twin.ts";

const known = [engine, createShop()];

/** The lines of the refusal of an environment file. */
function mistakes(text: string): string[] {
  try {
    readEnvironment(text, "env.yaml", known);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.message.split("\n");
    throw error;
  }
  throw new Error("expected a refusal");
}

test("services come with their config checked and their host names in lower case", () => {
  const environment = readEnvironment(
    "version: 1\nservices:\n  - name: shop\n    dns_aliases: [Shop.Example.COM]\n    config:\n      stock: [lamp]\n",
    "env.yaml",
    known,
  );
  expect(environment.services).toMatchObject([
    { definition: { name: "shop" }, config: { stock: ["lamp"] }, dnsAliases: ["shop.example.com"] },
  ]);
});

test("a service without config gets its twin's defaults", () => {
  const environment = readEnvironment("version: 1\nservices: [{ name: shop }]\n", "env.yaml", known);
  expect(environment.services[0]?.config).toEqual({ stock: [] });
});

describe("a mistake names file, line and what would be right", () => {
  test.each([
    [
      "an unknown service",
      "version: 1\nservices:\n  - name: shop\n  - name: bank\n",
      4,
      ["bank", "engine, shop"],
    ],
    ["an unknown key at the top", "version: 1\nservices: []\nservises: []\n", 3, ["servises", "no such key"]],
    [
      "an unknown key of a service",
      "version: 1\nservices:\n  - name: shop\n    dns_alias: x\n",
      4,
      ["dns_alias"],
    ],
    [
      "an unknown key of a config",
      "version: 1\nservices:\n  - name: shop\n    config:\n      stock: []\n      stok: []\n",
      6,
      ["stok"],
    ],
    [
      "a wrong type",
      "version: 1\nservices:\n  - name: shop\n    config:\n      stock:\n        - lamp\n        - 3\n",
      7,
      ["stock.1", "string"],
    ],
    ["a wrong version", "# about\n\nversion: 2\nservices: []\n", 3, ["version", "must be 1"]],
    ["a missing member", "version: 1\nservices:\n  - config: {}\n", 3, ["services.0.name"]],
    ["a service listed twice", "version: 1\nservices:\n  - name: shop\n  - name: shop\n", 4, ["twice"]],
    [
      "a host name that is none",
      "version: 1\nservices:\n  - name: shop\n    dns_aliases:\n      - 'http://x'\n",
      5,
      ["host name"],
    ],
    [
      "the gateway's own name as alias",
      "version: 1\nservices:\n  - name: shop\n    dns_aliases: [localhost]\n",
      4,
      ["localhost"],
    ],
    ["broken YAML", "version: 1\nservices: [\n", 3, []],
    ["an empty file", "", 1, []],
  ])("%s", (_name, text, line, words) => {
    const [first = ""] = mistakes(text);
    expect(first).toMatch(new RegExp(`^env\\.yaml:${line}: `));
    for (const word of words) expect(first).toContain(word);
  });

  test("one host name for two services", () => {
    const bank = {
      ...createShop(),
      name: "bank",
      config: z.strictObject({ stock: z.array(z.string()).default([]), fails: z.string().optional() }),
    };
    const text =
      "version: 1\nservices:\n  - name: shop\n    dns_aliases: [a.example.com]\n  - name: bank\n    dns_aliases:\n      - A.example.com\n";
    expect(() => readEnvironment(text, "env.yaml", [...known, bank])).toThrow(
      /^env\.yaml:7: .*another service/,
    );
  });

  test("all mistakes are listed", () => {
    expect(
      mistakes("version: 1\nservices:\n  - name: bank\n  - name: shop\n    config: { stock: 1, x: 2 }\n"),
    ).toHaveLength(3);
  });
});
