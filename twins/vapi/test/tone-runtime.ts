/** The twin behind a real gateway with real sessions, in the language of tones, and clients that dial it. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { createSessionWith } from "../session/call-session.ts";
import type { CallSession } from "../session/contract.ts";
import { createLevelDetector, toneRecognition, toneSynthesis } from "../testing/tone-speech.ts";
import { startVoiceRuntime, type VoiceRuntime, websocketCall } from "../testing/voice-runtime.ts";
import { LiveCall } from "./session/live-call.ts";

const FORMAT = { format: "pcm_s16le", sampleRate: 24_000 } as const;
const SPEED = 20;

interface DialledCall {
  id: string;
  controlUrl: string;
  caller: LiveCall;
}

export interface ToneRuntime extends VoiceRuntime {
  /** Creates a call and joins it with a client that streams like a microphone. */
  dial(assistant: object): Promise<DialledCall>;
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
  return {
    ...runtime,
    async dial(assistant) {
      const created = await runtime.api("POST", "/call", websocketCall({ assistant }));
      if (created.status !== 201) throw new Error(`the call was answered with ${created.status}`);
      const { id, transport, monitor } = created.body;
      const client = new WebSocket(transport.websocketCallUrl);
      const opened = once(client, "open");
      const session = { connect() {}, command() {}, end() {}, ended: new Promise<never>(() => undefined) };
      const caller = new LiveCall(client, session, FORMAT, SPEED);
      callers.push(caller);
      await opened;
      caller.startStreaming();
      return { id, controlUrl: monitor.controlUrl, caller };
    },
    async endedCall(id) {
      await sessions.get(id)?.ended;
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
