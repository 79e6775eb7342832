import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ConfigError, environmentVariables, isLoopback, readConfig } from "../../agent/config.ts";
import { loadTools } from "../../tools/registry.ts";

test("only the key is needed; everything else has its default, and empty counts as unset", () => {
  expect(readConfig({ VAPI_API_KEY: "key", PORT: "", SIMULATION_ID: " " })).toMatchObject({
    port: 8008,
    host: "127.0.0.1",
    voiceApiUrl: "https://api.vapi.ai",
    engineUrl: "http://localhost:6100",
    createTimeoutMs: 30_000,
    toolTimeoutMs: 15_000,
    simulationId: undefined,
    production: false,
  });
});

test("all problems are listed at once, by name, without the values", () => {
  const env = {
    PORT: "eighty",
    VOICE_API_URL: "ftp://user:hunter2@x",
    DATABASE_URL: "mysql://hunter2",
    MAX_CALLS: "0",
    LOG_LEVEL: "loud",
    SIMULATION_ID: "a/b",
    VOICE_TOKEN: "short",
  };
  let message = "";
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = String(error);
  }
  for (const name of [...Object.keys(env), "VAPI_API_KEY"]) expect(message).toContain(`  ${name} `);
  expect(message).not.toContain("hunter2");
});

test("slashes at the end of addresses do not matter", () => {
  const config = readConfig({ VAPI_API_KEY: "key", ENGINE_URL: "http://localhost:6100//" });
  expect(config.engineUrl).toBe("http://localhost:6100");
});

test(".env.example names every variable of the agent and of its tools, and no other", async () => {
  const text = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
  const named = text.split("\n").flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
  const ofTools = (await loadTools()).all().flatMap((tool) => Object.keys(tool.environment?.shape ?? {}));
  expect(named.sort()).toEqual([...environmentVariables, ...new Set(ofTools)].sort());
});

test("the defaults that .env.example shows are those of the agent", () => {
  const text = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
  const shown = Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const [name, value] = /^([A-Z_]+)=(.*)$/.exec(line)?.slice(1) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
  expect(readConfig({ ...shown, VAPI_API_KEY: "key" })).toEqual(readConfig({ VAPI_API_KEY: "key" }));
});

test("addresses of this machine are known as such", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.0.1", "[::1]", "a.localhost"]) {
    expect(isLoopback(`http://${host}:6100/s/dev/vapi`)).toBe(true);
  }
  for (const url of ["https://api.vapi.ai", "http://localhost.example.com", "http://10.0.0.1"]) {
    expect(isLoopback(url)).toBe(false);
  }
});
