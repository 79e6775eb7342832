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
    ENGINE_URL: "http://user:hunter2@engine",
    ALLOWED_HOSTS: "good.example, https://hunter2.example",
    ALLOWED_ORIGINS: "https://app.example/hunter2",
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

test("lists are separated by commas or spaces, in any case", () => {
  const config = readConfig({
    VAPI_API_KEY: "key",
    ALLOWED_HOSTS: "Agent, *.Example.com  10.0.0.1,*",
    ALLOWED_ORIGINS: "https://App.example.com:8443,*,null,chrome-extension://abcdef",
  });
  expect(config.allowedHosts).toEqual(["agent", "*.example.com", "10.0.0.1", "*"]);
  expect(config.allowedOrigins).toEqual([
    "https://app.example.com:8443",
    "*",
    "null",
    "chrome-extension://abcdef",
  ]);
});

test("in production the agent gives a load balancer time to see it go, elsewhere not", () => {
  const env = { VAPI_API_KEY: "key" };
  expect(readConfig(env).shutdownDelayMs).toBe(0);
  expect(readConfig({ ...env, NODE_ENV: "production" }).shutdownDelayMs).toBe(5_000);
  expect(readConfig({ ...env, NODE_ENV: "production", SHUTDOWN_DELAY_MS: "0" }).shutdownDelayMs).toBe(0);
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
  for (const host of ["localhost", "127.0.0.1", "127.8.0.1", "[::1]", "[::ffff:127.0.0.1]", "a.localhost"]) {
    expect(isLoopback(`http://${host}:6100/s/dev/vapi`)).toBe(true);
  }
  for (const url of [
    "https://api.vapi.ai",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "http://10.0.0.1",
  ]) {
    expect(isLoopback(url)).toBe(false);
  }
});

test.each([
  ["PUBLIC_BASE_URL", "agent.example.com", "must be an address that begins with http:// or https://"],
  ["VOICE_API_URL", "localhost:6100", "must be an address that begins with http:// or https://"],
  ["PORT", "80a", "must be a whole number from 0 to 65535"],
  ["MAX_CALL_MS", "0", "must be a whole number from 1 to 43200000"],
  ["DRAIN_TIMEOUT_MS", "1.5", "must be a whole number from 0 to 3600000"],
  ["LOG_LEVEL", "loud", "must be one of trace, debug, info, warn, error, fatal, silent"],
])("%s=%s is answered with what would be right, once", (variable, value, rule) => {
  expect(() => readConfig({ VAPI_API_KEY: "key", [variable]: value })).toThrow(
    new ConfigError(
      `The environment is not complete:\n  ${variable} ${rule}\nEvery variable is explained in .env.example.`,
    ),
  );
});
