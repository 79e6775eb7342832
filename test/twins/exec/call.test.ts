/** The agent as it is shipped, with the runtime's own address in it, under exec: a whole call at the twin. */
import { once } from "node:events";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { listen } from "@offhook/platform/http/listen";
import { request } from "@offhook/platform/testing/http";
import { expect, onTestFinished, test } from "vitest";
import { Command, run } from "../../support/command.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const API_KEY = "the-key-of-this-call";

/**
 * The agent has to be told its own address before it listens, since to the runtime it believes in this machine is far
 * away. Below the ports that the system gives to whoever asks for any, so that nobody gets it meanwhile.
 */
async function freePort(): Promise<string> {
  const server = net.createServer();
  const wanted = 20_000 + Math.floor(Math.random() * 10_000);
  const { port } = new URL(await listen(server, "127.0.0.1", wanted));
  server.close();
  await once(server, "close");
  return port;
}

test("an agent that calls https://api.vapi.ai has its call at the twin, tools and all", async () => {
  const port = await freePort();
  const agentCommand = ["--import", import.meta.resolve("tsx"), path.join(root, "agent/main.ts")];
  // Whatever exec sets for the runtime's address is taken away again.
  const command = ["env", "-u", "VOICE_API_URL", process.execPath, ...agentCommand];
  const agent = new Command("../twins/main.ts", ["exec", "--", ...command], {
    PORT: port,
    PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
    SANDBOX_API_KEY: API_KEY,
    TWINS_STRICT: "1",
  });
  onTestFinished(() => agent.interrupt());
  await agent.output(/"url":/);
  const [, twins = ""] = /twins at (\S+),/.exec(agent.errors) ?? [];
  const call = await run("dial.ts", ["ask-status", "--speed", "10", "--json"], {
    VOICE_URL: `ws://127.0.0.1:${port}/voice`,
    TWINS_URL: twins,
    SANDBOX_API_KEY: API_KEY,
  });
  expect(JSON.parse(call.stdout), call.stderr).toMatchObject({
    passed: true,
    calls: [{ outcome: "completed", toolCalls: [{ name: "incident_status" }] }],
  });
  const asked = await request("GET", `${twins}/c/dev/vapi/sim/requests?operation=call.create`, {
    headers: { "x-api-key": API_KEY },
  });
  expect(asked.body.requests).toMatchObject([{ status: 201, headers: { host: "api.vapi.ai" } }]);
  agent.interrupt();
  expect((await agent.finished()).exitCode).toBe(0);
});
