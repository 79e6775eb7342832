/**
 * The assistant: what it says first, how it behaves, which voice it has. This is the file to edit first.
 * It is sent inline with every call, so a change is live with the next call.
 * Fields: https://docs.vapi.ai/api-reference/assistants/create
 */
import type { ToolRegistry } from "../tools/registry.ts";

const FIRST_MESSAGE = "Incident hotline. How can I help?";

const SYSTEM_PROMPT = `You answer the incident hotline of a software company. Engineers phone in during outages.

What you do:
- Find out who is on call for a service, open incidents and tell how an incident is going. Use the tools for this; never invent a name, a phone number or an incident id.
- Before you open an incident you need three things: the service, a severity from 1 (worst) to 4, and a short title. Ask for what is missing, one thing at a time.
- An incident id looks like INC-1041. Callers say only the number.

How you speak:
- This is a phone call: one or two short sentences at a time, no lists, no markdown.
- Read ids and phone numbers in small groups of digits.
- If a tool reports an error, say in plain words what went wrong and what the caller can do.
- When the caller is done, say goodbye.`;

/** Where the runtime sends tool calls, and what it sends along. */
export interface ToolWebhook {
  /** Address of `POST /tool`, as the runtime reaches it. */
  url: string;
  headers: Record<string, string>;
  /** How long the runtime waits for the answer. */
  timeoutSeconds: number;
}

/**
 * The inline assistant of one call, as `POST /call` takes it.
 * @param metadata goes back and forth with the call; the simulation's id travels in it
 */
export function describeAssistant(
  tools: ToolRegistry,
  webhook: ToolWebhook,
  metadata: Record<string, string>,
) {
  return {
    name: "Incident hotline",
    firstMessage: FIRST_MESSAGE,
    firstMessageMode: "assistant-speaks-first",
    model: {
      provider: "openai",
      model: "gpt-4.1-mini",
      temperature: 0.3,
      maxTokens: 250,
      messages: [{ role: "system", content: SYSTEM_PROMPT }],
      tools: tools.all().map((tool) => ({
        type: "function",
        async: false,
        function: {
          name: tool.name,
          description: tool.description,
          parameters: tools.jsonSchemaOf(tool),
        },
        server: {
          url: webhook.url,
          headers: webhook.headers,
          timeoutSeconds: webhook.timeoutSeconds,
        },
      })),
    },
    voice: { provider: "11labs", voiceId: "EXAVITQu4vr4xnSDxMaL", model: "eleven_flash_v2" },
    transcriber: { provider: "deepgram", model: "nova-3", language: "en" },
    // When the assistant takes its turn: how long after the caller's words stop.
    startSpeakingPlan: {
      waitSeconds: 0.4,
      transcriptionEndpointingPlan: {
        onPunctuationSeconds: 0.4,
        onNoPunctuationSeconds: 1.5,
        onNumberSeconds: 0.7,
      },
    },
    // When it gives its turn away: how much the caller must say to interrupt.
    stopSpeakingPlan: {
      numWords: 0,
      voiceSeconds: 0.2,
      backoffSeconds: 1,
      interruptionPhrases: ["stop", "hold on", "wait"],
    },
    // The agent's own limits, MAX_SILENCE_MS and MAX_CALL_MS, are to be longer than these.
    silenceTimeoutSeconds: 30,
    maxDurationSeconds: 600,
    endCallPhrases: ["goodbye", "have a good day"],
    clientMessages: [
      "speech-update",
      "status-update",
      "transcript",
      "user-interrupted",
      "hang",
      "conversation-update",
    ],
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}
