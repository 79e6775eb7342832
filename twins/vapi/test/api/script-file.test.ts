import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { stringify } from "yaml";
import type { Brain, BrainStep } from "../../providers/provider.ts";
import {
  playedSessions,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "../../testing/voice-runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "offhook-script-"));
const script = join(folder, "script.yaml");
const logged: string[] = [];
const log = pino(
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged.push(chunk.toString());
      done();
    },
  }),
);
const played = playedSessions();
let runtime: VoiceRuntime;

beforeAll(async () => {
  writeScript("one");
  runtime = await startVoiceRuntime({ createSession: played.createSession, config: { script }, log });
});

afterAll(async () => {
  await runtime.stop();
  rmSync(folder, { recursive: true });
});

function writeScript(say: string): void {
  writeFileSync(script, stringify({ brain: [{ heard: "*", say }] }));
}

/** The brain of a new call; of a simulation, when one is named. */
async function newBrain(): Promise<Brain> {
  const { body } = await runtime.api("POST", "/call", websocketCall());
  const socket = new WebSocket(body.transport.websocketCallUrl);
  await once(socket, "open");
  const { parts } = await played.of(body.id);
  socket.close();
  return parts.brain;
}

async function said(brain: Brain, simulationId?: string): Promise<BrainStep[]> {
  const conversation = [{ role: "user", content: "Hello." } as const];
  const request = {
    simulationId,
    model: { provider: "openai", model: "m", temperature: 0.5, maxTokens: 250 },
    conversation,
    tools: [],
  };
  const steps: BrainStep[] = [];
  for await (const step of brain.reply(request, new AbortController().signal)) steps.push(step);
  return steps;
}

test("an edited script is reloaded; a simulation's own script stays; a broken file is logged once", async () => {
  const brain = await newBrain();
  expect(await said(brain)).toEqual([{ type: "say", text: "one" }]);
  const own = { simulation_id: "sim-own", rules: [{ heard: "*", say: "own" }] };
  await runtime.control("POST", "/data", { data: { scripts: [own] } });

  writeScript("two");
  expect(await said(brain, "sim-own")).toEqual([{ type: "say", text: "own" }]);
  expect(await said(brain, "sim-other")).toEqual([{ type: "say", text: "two" }]);

  writeFileSync(script, "brain: [{ heard: 7 }]");
  expect(await said(brain)).toEqual([{ type: "say", text: "two" }]);
  expect(await said(brain)).toEqual([{ type: "say", text: "two" }]);
  expect(logged.filter((line) => line.includes("cannot be used"))).toHaveLength(1);

  writeScript("three");
  await runtime.control("POST", "/reset", {});
  const { body } = await runtime.control("GET", "/data?entity_type=scripts");
  expect(body.rows).toMatchObject([{ simulation_id: "*", rules: [{ say: "three" }] }]);
});
