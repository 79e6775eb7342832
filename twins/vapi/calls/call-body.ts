/**
 * A call as the API answers it, built from its row. Its socket, control and recording addresses are
 * secrets: derived each time, never stored.
 * Source: Call of @vapi-ai/server-sdk; https://docs.vapi.ai/calls/websocket-transport
 */
import { recordingMembers } from "../recordings/addresses.ts";
import type { StoredRecording } from "../recordings/recording-store.ts";
import type { Assistant } from "../schema/assistant.ts";
import type { CallRow, MessageRow } from "../world.ts";
import { artifactOf } from "./artifact.ts";
import { callAssistant } from "./effective-assistant.ts";

export interface CallView {
  row: Readonly<CallRow>;
  messages: readonly Readonly<MessageRow>[];
  /** The assistant the call runs, overrides merged in. */
  assistant: Assistant;
  /** Of the whole call; absent while it runs, and when it is not kept. */
  recording: StoredRecording | undefined;
  /** The twin's own HTTP address. */
  url: string;
}

type Members = Record<string, unknown>;

/** The call as `POST /call` answers it, and as webhooks carry it. */
export function callSummary({ row, assistant, url }: CallView): Members {
  return {
    id: row.id,
    orgId: row.org_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    type: row.type,
    status: row.status,
    cost: 0,
    ...omitNulls({
      name: row.name,
      assistantId: row.assistant_id,
      assistant: row.assistant,
      assistantOverrides: row.assistant_overrides,
      startedAt: row.started_at,
      endedAt: row.ended_at,
      endedReason: row.ended_reason,
    }),
    ...row.details,
    monitor: monitor(assistant, url, row.id),
    transport: {
      conversationType: "voice",
      provider: "vapi.websocket",
      audioFormat: { ...row.audio_format, container: "raw" },
      websocketCallUrl: `${socketBase(url)}/${row.id}/transport`,
    },
  };
}

/** The call as `GET /call/{id}` answers it, with messages and artifact. */
export function callBody(view: CallView): Members {
  const { row } = view;
  const artifact = callArtifact(view);
  return {
    ...callSummary(view),
    messages: artifact.messages,
    artifact,
    analysis: {},
    costs: [],
    costBreakdown: { transport: 0, stt: 0, llm: 0, tts: 0, vapi: 0, total: 0 },
    ...(row.duration_ms === null ? {} : { durationSeconds: row.duration_ms / 1000 }),
  };
}

export function callArtifact({ row, messages, assistant, recording, url }: CallView): Members {
  const startedAtMs = Date.parse(row.started_at ?? row.created_at);
  return {
    ...artifactOf({ startedAtMs, prompt: callAssistant(assistant, undefined).model.messages, messages }),
    ...omitNulls({ performanceMetrics: row.performance }),
    ...(recording ? recordingMembers(recording, url) : {}),
  };
}

function monitor(assistant: Assistant, url: string, id: string): Members {
  const plan = assistant.monitorPlan;
  return {
    ...((plan?.listenEnabled ?? true) ? { listenUrl: `${socketBase(url)}/${id}/listen` } : {}),
    ...((plan?.controlEnabled ?? true) ? { controlUrl: `${url}/${id}/control` } : {}),
  };
}

/** `http` becomes `ws`, `https` becomes `wss`. */
function socketBase(url: string): string {
  return url.replace(/^http/, "ws");
}

function omitNulls(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
