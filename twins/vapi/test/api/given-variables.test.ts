/** The environment variables that a request may name. Proves a part of twins/SECURITY.md. */
import engine from "@offhook/engine";
import type { RunningTwins, StartOptions } from "@offhook/platform/server/start";
import { sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import { startEnvironment } from "@offhook/platform/testing/twins";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import voiceRuntimeTwin from "../../index.ts";

/** Set on this machine, as a key of somebody else's would be. */
const NAME = "OFFHOOK_TEST_SECRET";
const SECRET = "secret-of-the-machine";
const services = [
  { part: "brain", config: {} },
  { part: "recognition", config: {} },
  { part: "synthesis", config: {} },
].map(({ part }) => ({
  part,
  service: {
    name: "vapi",
    config: { [part]: { provider: "openai", base_url: "http://127.0.0.1:9/v1", api_key_env: NAME } },
  },
}));

let twins: RunningTwins | undefined;
beforeEach(() => vi.stubEnv(NAME, SECRET));
afterEach(async () => {
  vi.unstubAllEnvs();
  await twins?.stop();
});

async function start(
  options: Pick<StartOptions, "givenVariables"> = {},
  text = "version: 1\nservices: []\n",
) {
  twins = await startEnvironment(text, { twins: [engine, voiceRuntimeTwin], ...options });
  return sandboxRoutes(twins);
}

test("a request may name no environment variable, for any provider, set or not", async () => {
  const ask = await start();
  for (const { service } of services) {
    const refused = await ask("POST", "", { id: "thief", services: [service] });
    expect(refused.status).toBe(422);
    expect(refused.body.error.message).toContain(`may not name the variable ${NAME}`);
    expect(refused.text).not.toContain(SECRET);
    vi.stubEnv(NAME, undefined);
    expect((await ask("POST", "", { id: "thief", services: [service] })).body).toEqual(refused.body);
    vi.stubEnv(NAME, SECRET);
    expect((await ask("GET", "/thief")).status).toBe(404);
  }
});

test("a request may name a variable that the owner has listed, but not another with the same prefix", async () => {
  const ask = await start({ givenVariables: [NAME] });
  for (const { part, service } of services) {
    expect((await ask("POST", "", { id: part, services: [service] })).status).toBe(201);
  }
  const like = { provider: "openai", base_url: "http://127.0.0.1:9/v1", api_key_env: `${NAME}_TWO` };
  const refused = await ask("POST", "", { services: [{ name: "vapi", config: { brain: like } }] });
  expect(refused.status).toBe(422);
});

test("the environment file may name any variable, and so may a sandbox with its services", async () => {
  const brain = `{ provider: openai, base_url: "http://127.0.0.1:9/v1", api_key_env: ${NAME} }`;
  const ask = await start({}, `version: 1\nservices: [{ name: vapi, config: { brain: ${brain} } }]\n`);
  expect((await ask("POST", "", { id: "same" })).status).toBe(201);
});
