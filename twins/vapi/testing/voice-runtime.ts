/** The voice runtime twin behind a real gateway, with sessions that a test plays itself. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { bytesToSamples } from "@offhook/audio/pcm";
import { startTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { Watched } from "@offhook/platform/testing/watched";
import type { AnyTwinDefinition } from "@offhook/platform/twin/twin";
import type { Logger } from "pino";
import { stringify } from "yaml";
import { voiceRuntimeTwinWith } from "../definition.ts";
import type { EmbeddedSpeech } from "../providers/choose.ts";
import type {
  CallPlan,
  CreateSession,
  EndedCall,
  SessionCommand,
  SessionParts,
} from "../session/contract.ts";

export const KEY = "vapi-twin-key";

/** A live call played by a test: what the twin passes to the session, and what the session reports. */
export interface PlayedSession {
  plan: CallPlan;
  parts: SessionParts;
  commands: SessionCommand[];
  connected: boolean;
  /** Ends the session, as its own rules would. */
  finish(ended?: Partial<EndedCall>): void;
}

export interface PlayedSessions {
  createSession: CreateSession;
  sessions: PlayedSession[];
  /** The session of a call, once there is one. */
  of(callId: string): Promise<PlayedSession>;
}

export function playedSessions(): PlayedSessions {
  const sessions: PlayedSession[] = [];
  const watched = new Watched();
  const createSession: CreateSession = (plan, parts) => {
    let over: (ended: EndedCall) => void = () => undefined;
    const ended = new Promise<EndedCall>((resolve) => {
      over = resolve;
    });
    const session: PlayedSession = {
      plan,
      parts,
      commands: [],
      connected: false,
      finish({
        endedReason = "customer-ended-call",
        durationMs = 0,
        turnLatencies = [],
        userInterruptions = 0,
      } = {}) {
        parts.status("ended", endedReason);
        over({ endedReason, durationMs, turnLatencies, userInterruptions });
      },
    };
    return {
      ended,
      connect(socket) {
        session.connected = true;
        parts.status("in-progress");
        sessions.push(session);
        socket.on("message", (data, isBinary) => {
          if (isBinary && Buffer.isBuffer(data)) parts.audio?.receive(bytesToSamples(data));
        });
        socket.on("close", () => session.finish());
        watched.changed();
      },
      command(command) {
        session.commands.push(command);
        if (command.type === "end-call") session.finish();
      },
      end(endedReason) {
        session.finish({ endedReason });
      },
    };
  };
  async function of(callId: string): Promise<PlayedSession> {
    const find = () => sessions.find(({ plan }) => plan.callId === callId);
    await watched.until(() => find() !== undefined, `the session of call ${callId}`);
    const session = find();
    if (!session) throw new Error(`no session of call ${callId}`);
    return session;
  }
  return { createSession, sessions, of };
}

/** Speech that hears and says nothing: for tests whose sessions never ask it. */
export const silentSpeech: EmbeddedSpeech = {
  recognition: async () => ({
    transcribe: async () => ({ text: null }),
    partial: async () => ({ text: null }),
  }),
  synthesis: async () => ({ speak: async () => new Int16Array(0) }),
};

export interface VoiceRuntime {
  url: string;
  controlUrl: string;
  apiKey: string;
  stop(): Promise<void>;
  /** Calls the vendor API with the seeded key. */
  api(method: string, path: string, body?: unknown): ReturnType<typeof request>;
  /** Calls the control plane. */
  control(method: string, path: string, body?: unknown): ReturnType<typeof request>;
}

export interface VoiceRuntimeOptions {
  createSession: CreateSession;
  embedded?: EmbeddedSpeech;
  config?: object;
  log?: Logger;
}

/** Starts the twin alone, on a free port. */
export async function startVoiceRuntime(options: VoiceRuntimeOptions): Promise<VoiceRuntime> {
  const { createSession, embedded = silentSpeech } = options;
  return startDefinition(voiceRuntimeTwinWith({ createSession, embedded }), options);
}

/** Starts any definition of the twin, the one of `index.ts` among them. */
export async function startDefinition(
  twin: AnyTwinDefinition,
  { config = {}, log }: { config?: object; log?: Logger },
): Promise<VoiceRuntime> {
  const folder = await mkdtemp(path.join(tmpdir(), "offhook-voice-"));
  const environmentFile = path.join(folder, "environment.yaml");
  await writeFile(environmentFile, stringify({ version: 1, services: [{ name: "vapi", config }] }));
  const twins = await startTwins({ environmentFile, twins: [twin], ...(log ? { log } : {}) }).finally(() =>
    rm(folder, { recursive: true }),
  );
  const addresses = twins.sandboxes[0]?.twins.find(({ name }) => name === "vapi");
  if (!addresses) throw new Error("the voice runtime twin did not start");
  const json = { "content-type": "application/json", "user-agent": "test" };
  return {
    url: addresses.url,
    controlUrl: addresses.control_url,
    apiKey: twins.apiKey,
    stop: () => twins.stop(),
    api: (method, at, body) =>
      request(method, `${addresses.url}${at}`, {
        headers: { ...json, authorization: `Bearer ${KEY}` },
        body,
      }),
    control: (method, at, body) =>
      request(method, `${addresses.control_url}/sim${at}`, {
        headers: { ...json, "x-api-key": twins.apiKey },
        body,
      }),
  };
}

/** The creation body of a call on the call socket. */
export function websocketCall(members: object = {}): object {
  return {
    assistant: { firstMessage: "Hello." },
    transport: {
      provider: "vapi.websocket",
      audioFormat: { format: "pcm_s16le", container: "raw", sampleRate: 24_000 },
    },
    ...members,
  };
}
