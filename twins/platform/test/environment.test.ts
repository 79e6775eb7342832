import engine from "@offhook/engine";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentEnvironment } from "../sandboxes/agent-setup.ts";
import { EnvironmentError, readEnvironment } from "../sandboxes/environment.ts";
import { createShop } from "../testing/shop-twin.ts";
import { entryOf } from "../twin/twin-entry.ts";

/** A service that is reached by something else than HTTP. */
const silent = { ...createShop(), name: "silent", operations: [], sockets: [] };
const known = [engine, createShop(), silent].map(entryOf);

/** The lines of the refusal of an environment file. */
async function mistakes(text: string): Promise<string[]> {
  try {
    await readEnvironment(text, "env.yaml", known);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.message.split("\n");
    throw error;
  }
  throw new Error("expected a refusal");
}

test("services come with their config checked and their host names in lower case", async () => {
  const environment = await readEnvironment(
    "version: 1\nservices:\n  - name: shop\n    dns_aliases: [Shop.Example.COM]\n    config:\n      stock: [lamp]\n",
    "env.yaml",
    known,
  );
  expect(environment.services).toMatchObject([
    { definition: { name: "shop" }, config: { stock: ["lamp"] }, dnsAliases: ["shop.example.com"] },
  ]);
});

test("a service without config gets its twin's defaults", async () => {
  const environment = await readEnvironment("version: 1\nservices: [{ name: shop }]\n", "env.yaml", known);
  expect(environment.services[0]?.config).toEqual({ stock: [] });
});

test("a file of an agent sandbox is read whole", async () => {
  const hash = "ab".repeat(32);
  const text = `version: 1
services:
  - name: shop
    dns_aliases: [shop.internal]
    config: { stock: [lamp] }
    profile: rich
    port: 9200
keys: { acme: "sha256:${hash}", globex: ["sha256:${hash}"] }
actor:
  channels:
    - type: voice_ws
      url: ws://127.0.0.1:8008/voice
      protocol: json
      language: de
      wait_for_callee_first: true
    - { type: voice_ws, url: "wss://agent.example.com/voice" }
agent:
  port: 8008
  environment:
    SIMULATION_ID: \${SIMULATION_ID}
    WEBHOOK: https://x.test/{SIMULATION_ID}/hook
    BOTH: "\${SIMULATION_ID}-{SIMULATION_ID}-\${OTHER}"
    MAX_CALLS: 3
    TRACE: true
`;
  const environment = await readEnvironment(text, "env.yaml", known);
  expect(environment.services).toMatchObject([{ profile: "rich", port: 9200 }]);
  expect(environment.layout).toBe("split");
  expect(environment.keys).toEqual([
    { organisation: "acme", sha256: hash },
    { organisation: "globex", sha256: hash },
  ]);
  expect(environment.actor.channels).toEqual([
    {
      type: "voice_ws",
      url: "ws://127.0.0.1:8008/voice",
      protocol: "json",
      language: "de",
      wait_for_callee_first: true,
    },
    {
      type: "voice_ws",
      url: "wss://agent.example.com/voice",
      protocol: "binary",
      language: "en",
      wait_for_callee_first: false,
    },
  ]);
  expect(agentEnvironment(environment.agent, "run-$1")).toEqual({
    PORT: "8008",
    SIMULATION_ID: "run-$1",
    WEBHOOK: "https://x.test/run-$1/hook",
    BOTH: ["run-$1", "run-$1", "$" + "{OTHER}"].join("-"),
    MAX_CALLS: "3",
    TRACE: "true",
  });
  expect(agentEnvironment(environment.agent, "")).toMatchObject({ SIMULATION_ID: "" });
});

test("a key in the clear is not repeated by the message that refuses it", async () => {
  const [first] = await mistakes("version: 1\nservices: []\nkeys:\n  acme: my-secret-key\n");
  expect(first).not.toContain("my-secret-key");
});

describe("a mistake names file, line and what would be right", () => {
  test.each([
    [
      "an unknown service",
      "version: 1\nservices:\n  - name: shop\n  - name: bank\n",
      4,
      ["bank", "engine, shop, silent"],
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
    [
      "a dataset nobody declares",
      "version: 1\nservices:\n  - name: shop\n    dataset: logs\n",
      4,
      ["dataset", "takes no dataset"],
    ],
    [
      "a port for a service that is not reached over HTTP",
      "version: 1\nservices:\n  - name: shop\n  - name: silent\n    port: 9000\n",
      5,
      ["silent", "no port"],
    ],
    [
      "one port for two services",
      "version: 1\nservices:\n  - name: shop\n    port: 9000\n  - name: engine\n    port: 9000\n",
      6,
      ["9000", "another service"],
    ],
    ["a port that is none", "version: 1\nservices:\n  - name: shop\n    port: 99999\n", 4, ["port"]],
    ["a profile that is no name", "version: 1\nservices:\n  - name: shop\n    profile: 3\n", 4, ["profile"]],
    ["a layout there is not", "version: 1\nlayout: split-new\nservices: []\n", 2, ["layout", "legacy"]],
    ["a key in the clear", "version: 1\nservices: []\nkeys:\n  acme: my-key\n", 4, ["keys.acme"]],
    [
      "an organisation's name that cannot stand in an address",
      "version: 1\nservices: []\nkeys:\n  Acme: sha256:00\n",
      4,
      ["keys.Acme"],
    ],
    [
      "a channel of another type",
      "version: 1\nservices: []\nactor:\n  channels:\n    - type: sip\n      url: ws://x/voice\n",
      5,
      ["actor.channels.0.type", "voice_ws"],
    ],
    [
      "a channel that is no socket",
      "version: 1\nservices: []\nactor:\n  channels:\n    - type: voice_ws\n      url: http://x/voice\n",
      6,
      ["url", "ws://"],
    ],
    [
      "an unknown key of a channel",
      "version: 1\nservices: []\nactor:\n  channels:\n    - type: voice_ws\n      url: ws://x\n      codec: pcm\n",
      7,
      ["codec", "no such key"],
    ],
    [
      "a variable that can be none",
      "version: 1\nservices: []\nagent:\n  environment:\n    A-B: x\n",
      5,
      ["agent.environment.A-B"],
    ],
    [
      "a value that is no text",
      "version: 1\nservices: []\nagent:\n  environment:\n    A: [1]\n",
      5,
      ["agent.environment.A"],
    ],
    ["an unknown key of the agent", "version: 1\nservices: []\nagent:\n  prt: 1\n", 4, ["agent.prt"]],
    ...["127.0.0.1", "10.1.2.3", "api.localhost"].map((host): [string, string, number, string[]] => [
      `the gateway's own address ${host} as alias`,
      `version: 1\nservices:\n  - name: shop\n    dns_aliases: ["${host}"]\n`,
      4,
      ["gateway itself"],
    ]),
    ["broken YAML", "version: 1\nservices: [\n", 3, []],
    ["an empty file", "", 1, []],
  ])("%s", async (_name, text, line, words) => {
    const [first = ""] = await mistakes(text);
    expect(first).toMatch(new RegExp(`^env\\.yaml:${line}: `));
    for (const word of words) expect(first).toContain(word);
  });

  test("one host name for two services", async () => {
    const bank = {
      ...createShop(),
      name: "bank",
      config: z.strictObject({ stock: z.array(z.string()).default([]), fails: z.string().optional() }),
    };
    const text =
      "version: 1\nservices:\n  - name: shop\n    dns_aliases: [a.example.com]\n  - name: bank\n    dns_aliases:\n      - A.example.com\n";
    await expect(readEnvironment(text, "env.yaml", [...known, entryOf(bank)])).rejects.toThrow(
      /^env\.yaml:7: .*another service/,
    );
  });

  test("all mistakes are listed", async () => {
    expect(
      await mistakes(
        "version: 1\nservices:\n  - name: bank\n  - name: shop\n    config: { stock: 1, x: 2 }\n",
      ),
    ).toHaveLength(3);
  });

  test("a mistake of shape hides no other: names, configs and the rest of the file are looked at all the same", async () => {
    const text = `version: 2
services:
  - name: bank
    prt: 1
  - name: shop
    port: none
    config: { stok: [] }
  - shop
  - config: {}
layout: new
`;
    expect((await mistakes(text)).map((line) => line.split(": ").slice(0, 2).join(" "))).toEqual([
      "env.yaml:1 version",
      "env.yaml:3 services.0.name",
      "env.yaml:4 services.0.prt",
      "env.yaml:6 services.1.port",
      "env.yaml:7 services.1.config.stok",
      "env.yaml:8 services.2",
      "env.yaml:9 services.3.name",
      "env.yaml:10 layout",
    ]);
  });

  test("every mistake of YAML is listed", async () => {
    expect((await mistakes('version: 1\nservices: [\nagent: "x\n')).length).toBeGreaterThan(1);
  });
});
