/** The voice runtime with real sessions that speak in tones, and clients that call it. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { AudioFormat } from "../../schema/call.ts";
import { createSessionWith } from "../../session/call-session.ts";
import type { CallSession } from "../../session/contract.ts";
import { createLevelDetector, toneRecognition, toneSynthesis } from "../../testing/tone-speech.ts";
import { startVoiceRuntime, type VoiceRuntime, websocketCall } from "../../testing/voice-runtime.ts";
import { LiveCall } from "../session/live-call.ts";

const SPEED = 20;

export interface SpokenCalls {
  runtime: VoiceRuntime;
  /** Creates a call and joins it; the client does not stream yet. */
  dial(assistant: object, audioFormat?: AudioFormat): Promise<DialledCall>;
  /** Resolves when the session of a call is over. */
  ended(id: string): Promise<void>;
  stop(): Promise<void>;
}

interface DialledCall {
  id: string;
  /** The body with which its creation was answered. */
  created: { monitor: { listenUrl: string } };
  caller: LiveCall;
}

export async function startSpokenCalls(config: object = {}): Promise<SpokenCalls> {
  const sessions = new Map<string, CallSession>();
  const callers: LiveCall[] = [];
  const runtime = await startVoiceRuntime({
    config,
    createSession(plan, parts) {
      const session = createSessionWith(plan, parts, async () => createLevelDetector(100, 400));
      sessions.set(plan.callId, session);
      return session;
    },
    embedded: { recognition: async () => toneRecognition, synthesis: async () => toneSynthesis },
  });
  return {
    runtime,
    async dial(assistant, audioFormat = { format: "pcm_s16le", sampleRate: 24_000 }) {
      const transport = { provider: "vapi.websocket", audioFormat: { ...audioFormat, container: "raw" } };
      const { status, body } = await runtime.api("POST", "/call", websocketCall({ assistant, transport }));
      if (status !== 201) throw new Error(`the call was refused with ${status}`);
      const client = new WebSocket(body.transport.websocketCallUrl);
      const session = { connect() {}, command() {}, end() {}, ended: new Promise<never>(() => undefined) };
      const caller = new LiveCall(client, session, audioFormat, SPEED);
      callers.push(caller);
      await once(client, "open");
      return { id: body.id, created: body, caller };
    },
    async ended(id) {
      await sessions.get(id)?.ended;
    },
    async stop() {
      for (const caller of callers) {
        caller.stopStreaming();
        caller.client.terminate();
      }
      await runtime.stop();
    },
  };
}
