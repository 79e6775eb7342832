/** The twin behind a real gateway with real sessions, in the language of tones, and clients that dial it. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { AudioFormat } from "../schema/call.ts";
import { createSessionWith } from "../session/call-session.ts";
import type { CallSession } from "../session/contract.ts";
import { createLevelDetector, toneRecognition, toneSynthesis } from "../testing/tone-speech.ts";
import { startVoiceRuntime, type VoiceRuntime, websocketCall } from "../testing/voice-runtime.ts";
import { LiveCall } from "./session/live-call.ts";

const FORMAT: AudioFormat = { format: "pcm_s16le", sampleRate: 24_000 };
const SPEED = 20;

interface DialledCall {
  id: string;
  /** The body with which its creation was answered. */
  created: { monitor: { controlUrl: string; listenUrl: string } };
  caller: LiveCall;
}

export interface ToneRuntime extends VoiceRuntime {
  /** Creates a call and joins it; the client does not stream yet. */
  join(assistant: object, audioFormat?: AudioFormat): Promise<DialledCall>;
  /** Creates a call and joins it with a client that streams like a microphone. */
  dial(assistant: object): Promise<DialledCall>;
  /** Resolves when the session of a call is over. */
  ended(id: string): Promise<void>;
  /** The call as the API answers it once its session is over. */
  endedCall(id: string): Promise<ReturnType<typeof JSON.parse>>;
  /** Ends the clients' lines without a word. */
  hangUp(): void;
}

export async function startToneRuntime(config: object = {}): Promise<ToneRuntime> {
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
  const join: ToneRuntime["join"] = async (assistant, audioFormat = FORMAT) => {
    const transport = { provider: "vapi.websocket", audioFormat: { ...audioFormat, container: "raw" } };
    const { status, body } = await runtime.api("POST", "/call", websocketCall({ assistant, transport }));
    if (status !== 201) throw new Error(`the call was answered with ${status}`);
    const client = new WebSocket(body.transport.websocketCallUrl);
    const session = { connect() {}, command() {}, end() {}, ended: new Promise<never>(() => undefined) };
    const caller = new LiveCall(client, session, audioFormat, SPEED);
    callers.push(caller);
    await once(client, "open");
    return { id: body.id, created: body, caller };
  };
  const ended = async (id: string) => {
    await sessions.get(id)?.ended;
  };
  return {
    ...runtime,
    join,
    async dial(assistant) {
      const call = await join(assistant);
      call.caller.startStreaming();
      return call;
    },
    ended,
    async endedCall(id) {
      await ended(id);
      return (await runtime.api("GET", `/call/${id}`)).body;
    },
    hangUp() {
      for (const caller of callers.splice(0)) {
        caller.stopStreaming();
        caller.client.terminate();
      }
    },
  };
}
