/** Proofs of what the voice runtime says of the control routes that it alone has. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CALLER_RATE } from "@offhook/audio/pcm";
import { readSampleLibrary, writeManifest, writeSample } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { writeWav } from "@offhook/audio/wav";
import { request } from "@offhook/platform/testing/http";
import { sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { startWebhookServer } from "@offhook/platform/testing/webhook-server";
import vapi from "@offhook/vapi";
import { startDefinition, websocketCall } from "@offhook/vapi/testing/voice-runtime";
import { expect } from "vitest";
import { WebSocket } from "ws";
import type { Proofs } from "./proof.ts";

const CALL = "11111111-1111-4111-8111-111111111111";
const LATENCY = { endpointing_ms: 400, transcriber_ms: 20, model_ms: 300, voice_ms: 80, turn_ms: 810 };

export const vapiControlProofs: Proofs = {
  async "vapi.calls"({ control }) {
    const at = "2026-01-31T09:00:00.000Z";
    const call = { org_id: "org", created_at: at, updated_at: at, status: "ended" };
    const audio_format = { format: "pcm_s16le", sampleRate: 16_000 };
    const said = {
      call_id: CALL,
      position: 0,
      role: "assistant",
      text: "It is",
      start_ms: 900,
      end_ms: 1400,
    };
    const rows = {
      calls: [
        { id: CALL, ...call, audio_format },
        { id: CALL.replaceAll("1", "2"), ...call, audio_format },
      ],
      messages: [{ id: `${CALL}:0`, ...said, latency: LATENCY, interrupted: true }],
    };
    expect((await control("POST", "/data", { data: rows })).status).toBe(201);
    const listed = async (query: string) =>
      (await control("GET", `/calls${query}`)).body.calls.map(({ id }: { id: string }) => id[0]);
    expect([await listed(""), await listed("?order=newest")]).toEqual([
      ["1", "2"],
      ["2", "1"],
    ]);
    expect((await control("GET", `/calls/${CALL}`)).body).toMatchObject({
      slowest_response_ms: 810,
      messages: [{ text: "It is", latency: LATENCY, interrupted: true }],
    });
  },
  async "vapi.scripts"({ control }) {
    const brain = [
      { heard: "* goodbye", say: "Bye." },
      { heard: "*", say: "Sorry?" },
    ];
    expect((await control("PUT", "/scripts/a-call", { brain })).status).toBe(201);
    expect((await control("GET", "/scripts")).body.scripts).toContainEqual({
      simulation_id: "a-call",
      heard: ["* goodbye"],
      samples: [],
    });
    expect((await control("GET", "/data?entity_type=scripts&simulation_id=a-call")).body.total).toBe(1);
  },
  async "vapi.exchanges"() {
    const runtime = await startDefinition(vapi, {});
    const hook = await startWebhookServer();
    const rules = [{ heard: "status", call: [{ tool: "status" }], say: "Open." }];
    await runtime.control("POST", "/data", { data: { scripts: [{ simulation_id: "*", rules }] } });
    hook.answer = ({ body }) => ({
      body: {
        results: [{ toolCallId: body.message.toolCallList[0].id, result: "told-by-webhook" }],
        note: "beside-the-result",
      },
    });
    const tool = { type: "function", function: { name: "status" }, server: { url: `${hook.url}/tool` } };
    const assistant = { model: { provider: "openai", model: "gpt-4.1", tools: [tool] } };
    const { id, transport } = (await runtime.api("POST", "/call", websocketCall({ assistant }))).body;
    const socket = new WebSocket(transport.websocketCallUrl);
    const answered = new Promise<void>((resolve) => {
      socket.on("message", (data) => {
        if (String(data).includes("told-by-webhook")) resolve();
      });
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "add-message", message: { role: "user", content: "status" } }));
    await answered;
    const webhookOf = async () => {
      const { body } = await runtime.control("GET", `/calls/${id}`);
      return body.messages.find(({ role }: { role: string }) => role === "tool_call").webhook;
    };
    expect(await webhookOf()).toMatchObject({
      url: `${hook.url}/tool`,
      attempts: [{ status: 200, answer: { note: "beside-the-result" } }],
    });
    const { tables } = (await runtime.control("POST", "/snapshot")).body;
    expect(JSON.stringify(tables)).not.toContain("beside-the-result");
    await runtime.control("POST", "/reset", { data: tables });
    expect(await webhookOf()).toBeNull();
    socket.terminate();
    await runtime.stop();
    await hook.stop();
  },
  async "vapi.samples"() {
    const folder = await mkdtemp(path.join(tmpdir(), "offhook-manual-samples-"));
    const library = readSampleLibrary(SAMPLES_FOLDER);
    const { pcm, durationMs: _length, sha256: _sum, ...entry } = library.get("thanks-goodbye");
    writeManifest(folder, [writeSample(folder, entry, pcm)]);
    const config = { recognition: { provider: "samples", samples: folder } };
    const environment = { version: 1, services: [{ name: "vapi", config }], request_folders: [folder] };
    const twins = await startEnvironment(JSON.stringify(environment), { twins: [vapi] });
    const wav = writeWav({ samples: library.get("yes-please").pcm, sampleRate: CALLER_RATE });
    const add = (controlUrl: string, name: string) =>
      fetch(`${controlUrl}/sim/samples?name=${name}&text=Yes.`, {
        method: "POST",
        headers: { "x-api-key": twins.apiKey },
        body: Buffer.from(wav),
      });
    const { control_url: own } = addressesOf(twins, "vapi");
    expect((await add(own, "agreed")).status).toBe(201);
    expect((await add(own, "agreed")).status).toBe(409);
    const headers = { "x-api-key": twins.apiKey };
    expect((await request("GET", `${own}/sim/samples`, { headers })).body.samples).toHaveLength(2);
    expect((await request("GET", `${own}/sim/providers`, { headers })).body.recognition.samples).toBe(2);
    const given = await sandboxRoutes(twins)("POST", "", { services: [{ name: "vapi", config }] });
    const { control_url } = given.body.twins.find(({ name }: { name: string }) => name === "vapi");
    expect((await add(control_url, "agreed-too")).status).toBe(409);
    await twins.stop();
    await rm(folder, { recursive: true });
  },
};
