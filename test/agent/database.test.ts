import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { registryOf } from "../../tools/registry.ts";
import { defineTool } from "../../tools/tool.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";

const PASSWORD = "never-to-be-seen";

const countIncidents = defineTool({
  name: "count_incidents",
  description: "Counts the incidents.",
  parameters: z.object({}),
  run: (_args, { database }) => database.query("SELECT count(*) FROM incidents"),
});

async function listening(onConnection: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer(onConnection).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { server, port: address.port };
}

describe("a database that is down", () => {
  let bench: AgentBench;
  let server: Server;

  async function start(port: number): Promise<void> {
    const databaseUrl = `postgres://agent:${PASSWORD}@localhost:${port}/incidents`;
    bench = await startAgentBench({
      env: { DATABASE_URL: databaseUrl },
      tools: registryOf([{ tool: countIncidents }]),
    });
  }

  /** What the model is told. */
  async function toldTheModel(): Promise<unknown> {
    const { client, runtimeCall } = await bench.call();
    const answer = await bench.postTools(runtimeCall, {
      message: { toolCallList: [{ id: "down", name: "count_incidents", arguments: {} }] },
    });
    expect(answer.status).toBe(200);
    // The call goes on: audio still comes through.
    client.send(Buffer.alloc(960, 1));
    await runtimeCall.received(960);
    client.hangUp();
    await bench.idle();
    return JSON.parse(answer.results[0]?.result ?? "");
  }

  const sockets = new Set<Socket>();
  let port: number;

  beforeEach(async () => {
    ({ server, port } = await listening((socket) => {
      sockets.add(socket.on("error", () => {}));
    }));
  });
  afterEach(async () => {
    await bench.stop();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    server.close();
    expect(JSON.stringify(bench.captured.lines)).not.toContain(PASSWORD);
  });

  test("is an error the model is told when nothing listens, and the call goes on", async () => {
    server.close();
    await once(server, "close");
    await start(port);
    expect(await toldTheModel()).toEqual({ error: expect.stringContaining("ECONNREFUSED") });
  });

  test("is an error within five seconds when it takes connections and never answers", async () => {
    await start(port);
    expect(await toldTheModel()).toEqual({ error: expect.stringContaining("timeout") });
    expect(sockets.size).toBeGreaterThan(0);
  });

  test("is an error when it breaks connections off", async () => {
    server.on("connection", (socket) => socket.destroy());
    await start(port);
    expect(await toldTheModel()).toEqual({ error: expect.stringMatching(/terminated|ECONNRESET/) });
  });
});
