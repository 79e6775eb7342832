/** `/sim/providers` and `/sim/samples`. Proves a part of twins/SECURITY.md. */
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALLER_RATE, silence } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { readManifest, readSampleLibrary, sampleFile, writeManifest } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { chords } from "@offhook/audio/testing/sounds";
import { readWav, writeWav } from "@offhook/audio/wav";
import engine from "@offhook/engine";
import { keyEntry } from "@offhook/platform/http/api-keys";
import { sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import { startEnvironment } from "@offhook/platform/testing/twins";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import voiceRuntimeTwin from "../../index.ts";
import { startDefinition, type VoiceRuntime, websocketCall } from "../../testing/voice-runtime.ts";
import { LiveCall } from "../session/live-call.ts";

const shipped = readSampleLibrary(SAMPLES_FOLDER);
const never = { connect() {}, command() {}, end() {}, ended: new Promise<never>(() => undefined) };
let folder: string;
let runtime: VoiceRuntime;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "offhook-samples-route-"));
  const kept = readManifest(SAMPLES_FOLDER).samples.filter(({ name }) => HELD.includes(name));
  for (const { name } of kept) copyFileSync(sampleFile(SAMPLES_FOLDER, name), sampleFile(folder, name));
  writeManifest(folder, kept);
  runtime = await startDefinition(voiceRuntimeTwin, {
    config: { recognition: { provider: "samples", samples: folder } },
  });
});
afterEach(async () => {
  await runtime.stop();
  rmSync(folder, { recursive: true });
});

const HELD = ["thanks-goodbye", "noise"];
const YES = shipped.get("yes-please");

/** A WAV file of a shipped sample, at another rate. */
function wavOf(name: string): Buffer {
  return Buffer.from(
    writeWav({ samples: resample(shipped.get(name).pcm, CALLER_RATE, 44_100), sampleRate: 44_100 }),
  );
}

function add(query: Record<string, string>, wav: Uint8Array) {
  return fetch(`${runtime.controlUrl}/sim/samples?${new URLSearchParams(query)}`, {
    method: "POST",
    headers: { "x-api-key": runtime.apiKey },
    body: Buffer.from(wav),
  });
}

test("samples are listed with what is said in them, and are heard as WAV", async () => {
  const { samples, locked } = (await runtime.control("GET", "/samples")).body;
  expect(locked).toBeNull();
  expect(samples.map(({ name, kind }: { name: string; kind: string }) => [name, kind])).toEqual([
    ["thanks-goodbye", "speech"],
    ["noise", "noise"],
  ]);
  const { text, voice, durationMs } = shipped.get("thanks-goodbye");
  expect(samples[0]).toMatchObject({ text, voice, duration_ms: durationMs });
  const answer = await fetch(`${runtime.controlUrl}/sim/samples/thanks-goodbye`, {
    headers: { "x-api-key": runtime.apiKey },
  });
  expect(answer.headers.get("content-type")).toBe("audio/wav");
  expect(readWav(new Uint8Array(await answer.arrayBuffer()))).toEqual({
    samples: shipped.get("thanks-goodbye").pcm,
    sampleRate: CALLER_RATE,
  });
  expect((await runtime.control("GET", "/samples/no-such")).body.error.code).toBe("not_found");
});

test("a recording is kept with its text, and recognised from the next turn of a running call on", async () => {
  const assistant = { firstMessage: "Hello.", model: { provider: "openai", model: "gpt-4.1" } };
  const created = await runtime.api("POST", "/call", websocketCall({ assistant }));
  const client = new WebSocket(created.body.transport.websocketCallUrl);
  const opened = once(client, "open");
  const caller = new LiveCall(client, never, { format: "pcm_s16le", sampleRate: CALLER_RATE }, 10);
  await opened;
  caller.startStreaming();
  await caller.brief("transcript assistant final: Hello.");
  await caller.say(shipped.get("thanks-goodbye").pcm);
  await caller.brief(`transcript user final: ${shipped.get("thanks-goodbye").text}`);
  const answer = await add({ name: "agreed", text: YES.text }, wavOf("yes-please"));
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({
    name: "agreed",
    kind: "speech",
    text: YES.text,
    voice: "recorded",
  });
  await caller.say(YES.pcm);
  await caller.brief(`transcript user final: ${YES.text}`);
  caller.command({ type: "end-call" });
  await caller.closed();
  expect(readManifest(folder).samples.map(({ name }) => name)).toEqual(["thanks-goodbye", "agreed", "noise"]);
  expect(readdirSync(folder).toSorted()).toEqual([
    "agreed.pcm",
    "manifest.json",
    "noise.pcm",
    "thanks-goodbye.pcm",
  ]);
  expect(readSampleLibrary(folder).get("agreed").pcm.length).toBeGreaterThan(CALLER_RATE);
});

test("a folder with an utterances.yaml has the recording in there too, with the comments it had", async () => {
  const source =
    "# Ours.\nversion: 1\nutterances:\n  - { name: thanks-goodbye, voice: rms, text: Bye. } # short\n";
  writeFileSync(join(folder, "utterances.yaml"), source);
  expect((await add({ name: "agreed", text: YES.text, voice: "Ada" }, wavOf("yes-please"))).status).toBe(201);
  const changed = readFileSync(join(folder, "utterances.yaml"), "utf8");
  expect(changed.startsWith(source)).toBe(true);
  expect(changed.slice(source.length)).toContain("name: agreed");
  expect(changed.slice(source.length)).toContain("recorded: true");
});

describe("what cannot be a sample is refused, and nothing is written", () => {
  const good = { name: "agreed", text: "Yes." };
  const quiet = () => writeWav({ samples: silence(1_000, CALLER_RATE), sampleRate: CALLER_RATE });
  const long = () => writeWav({ samples: chords(31_000, -22, 8_000), sampleRate: 8_000 });
  const cases: [string, Record<string, string>, () => Uint8Array, number, string][] = [
    [
      "a name that is taken",
      { ...good, name: "thanks-goodbye" },
      () => wavOf("yes-please"),
      409,
      "take another",
    ],
    ["a sound's name", { ...good, name: "noise" }, () => wavOf("yes-please"), 422, "noise is a sound"],
    [
      "a name that climbs",
      { ...good, name: "../agreed" },
      () => wavOf("yes-please"),
      422,
      "lower case letters",
    ],
    ["no text", { ...good, text: " " }, () => wavOf("yes-please"), 422, "text"],
    ["no name", { text: "Yes." }, () => wavOf("yes-please"), 422, "query"],
    ["silence", good, quiet, 422, "nothing can be heard"],
    ["what lasts too long", good, long, 422, "31.0 s"],
    ["no WAV file", good, () => Buffer.from("ID3"), 422, "no WAV file"],
    ["no body", good, () => Buffer.alloc(0), 422, "no WAV file"],
    ["too large a body", good, () => Buffer.alloc(7 * 1024 * 1024), 413, "bytes"],
  ];
  test.each(cases)("%s", async (_what, query, wav, status, reason) => {
    const before = readdirSync(folder);
    const manifest = readFileSync(join(folder, "manifest.json"), "utf8");
    const answer = await add(query, wav());
    const { error } = (await answer.json()) as { error: { message: string } };
    expect([answer.status, error.message]).toEqual([status, expect.stringContaining(reason)]);
    expect(readdirSync(folder)).toEqual(before);
    expect(readFileSync(join(folder, "manifest.json"), "utf8")).toBe(manifest);
  });
});

describe("who may add a sample", () => {
  test("nobody where the service names no folder, or has a server that listens", async () => {
    const configs: [object, string][] = [
      [{}, "no folder of samples"],
      [
        { recognition: { provider: "openai", base_url: "http://user:pass@127.0.0.1:1/v1" } },
        "a speech-to-text server listens",
      ],
    ];
    for (const [config, reason] of configs) {
      const other = await startDefinition(voiceRuntimeTwin, { config });
      expect((await other.control("GET", "/samples")).body).toEqual({
        samples: [],
        locked: expect.stringContaining(reason),
      });
      const refused = await other.control("POST", "/samples?name=agreed&text=Yes.");
      expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining(reason)]);
      await other.stop();
    }
  });

  test("only the organisation that owns dev, in services of the environment file", async () => {
    const key = "globex-key-of-the-test";
    const text = `version: 1
services: [{ name: vapi, config: { recognition: { provider: samples, samples: ${JSON.stringify(folder)} } } }]
request_folders: [${JSON.stringify(folder)}]
`;
    const twins = await startEnvironment(text, {
      twins: [engine, voiceRuntimeTwin],
      keys: [keyEntry("acme", "acme-key-of-the-test"), keyEntry("globex", key)],
    });
    const ask = sandboxRoutes(twins);
    const given = [{ name: "vapi", config: { recognition: { provider: "samples", samples: folder } } }];
    const made = [
      { id: "own", apiKey: twins.apiKey, status: 201, body: {} },
      { id: "given", apiKey: twins.apiKey, status: 409, body: { services: given } },
      { id: "globex--other", apiKey: key, status: 409, body: {} },
    ];
    const wav = wavOf("yes-please");
    for (const { id, apiKey, status, body } of made) {
      const name = id.replace("globex--", "");
      expect((await ask("POST", "", { id: name, ...body }, apiKey)).status).toBe(201);
      const answer = await fetch(`${twins.baseUrl}/c/${id}/vapi/sim/samples?name=by-${name}&text=Yes.`, {
        method: "POST",
        headers: { "x-api-key": apiKey },
        body: wav,
      });
      expect([id, answer.status]).toEqual([id, status]);
      expect(existsSync(sampleFile(folder, `by-${name}`))).toBe(status === 201);
    }
    await twins.stop();
  });
});

describe("/sim/providers", () => {
  test("says what listens, thinks and speaks, and what to do when it is not understood", async () => {
    expect((await runtime.control("GET", "/providers")).body).toEqual({
      recognition: {
        provider: "samples",
        samples: 1,
        hint: expect.stringContaining("only the recordings that /sim/samples lists are recognised"),
      },
      brain: { provider: "script", hint: expect.stringContaining("the table scripts") },
      synthesis: { provider: "flite", hint: null },
    });
  });

  test("names servers by their host, and no key", async () => {
    const server = {
      provider: "openai",
      base_url: "http://user:hush@127.0.0.1:11434/v1",
      api_key_env: "HOME",
    };
    const other = await startDefinition(voiceRuntimeTwin, {
      config: { recognition: server, brain: server, synthesis: { ...server, voice: "nova" } },
    });
    const { body, text } = await other.control("GET", "/providers");
    expect(body).toEqual({
      recognition: { provider: "openai", model: "whisper-1", server: "127.0.0.1:11434", hint: null },
      brain: {
        provider: "openai",
        model: null,
        server: "127.0.0.1:11434",
        hint: "each assistant names its own model",
      },
      synthesis: { provider: "openai", model: "tts-1", voice: "nova", server: "127.0.0.1:11434", hint: null },
    });
    expect(text).not.toContain("hush");
    expect(text).not.toContain(process.env.HOME);
    await other.stop();
  });
});
