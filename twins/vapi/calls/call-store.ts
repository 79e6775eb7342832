/** Reads and writes the tables `calls` and `messages`; the only module that knows their columns. */

import type { Clock } from "@offhook/platform/base/clock";
import type { SpokenLine } from "@offhook/platform/twin/sandbox-view";
import type { MemoryWorld } from "@offhook/platform/world/memory-world";
import { WorldRefusal } from "@offhook/platform/world/world";
import type { Logger } from "pino";
import { NO_RESULT } from "../providers/openai-message.ts";
import type { RecordingStore, StoredRecording } from "../recordings/recording-store.ts";
import type { Assistant } from "../schema/assistant.ts";
import type { CallPlan, SessionRecord, TurnLatency } from "../session/contract.ts";
import type { Envelope } from "../webhooks/tool-webhook.ts";
import type { CallRow, MessageRow, tables } from "../world.ts";
import { type CallView, callArtifact, callBody, callSummary } from "./call-body.ts";
import type { ModelCallInfo } from "./custom-llm.ts";
import type { SecretVault } from "./secret-vault.ts";

export type VoiceWorld = MemoryWorld<typeof tables>;
type Members = Record<string, unknown>;
type CallChanges = Partial<CallRow>;

export interface CallStoreParts {
  world: VoiceWorld;
  clock: Clock;
  vault: SecretVault;
  recordings: RecordingStore;
  url: string;
  log: Logger;
}

export type CallStore = ReturnType<typeof createCallStore>;

export function createCallStore({ world, clock, vault, recordings, url, log }: CallStoreParts) {
  const calls = world.table("calls");
  const messages = world.table("messages");
  const timestamp = () => new Date(clock.now()).toISOString();

  /** Logs a refused write: a row removed through the control plane must not break a live call. */
  function tolerateRefusal(write: () => unknown): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof WorldRefusal)) throw error;
      log.warn({ problems: error.problems }, "the world refused a record of a call");
    }
  }

  function change(id: string, changes: CallChanges): void {
    tolerateRefusal(() => calls.update(id, { ...changes, updated_at: timestamp() }));
  }

  /** Ordered by start: a tool may run before the user's turn is final and recorded. */
  function messagesOf(id: string): Readonly<MessageRow>[] {
    return messages.find({ call_id: id }).sort((a, b) => beginMs(a) - beginMs(b) || a.position - b.position);
  }

  /** The recording of a call that is over; none of a call that had no audio. */
  function recordingOf(id: string): StoredRecording | undefined {
    const stored = calls.get(id) === undefined ? undefined : recordings.find(id);
    return stored && stored.recording.state !== "running" && stored.recording.bytes > 0 ? stored : undefined;
  }

  /** Leaves out `unrecognised` rows, which the vendor's answers do not have. */
  function view(row: Readonly<CallRow>, assistant: Assistant): CallView {
    const said = messagesOf(row.id).filter(({ role }) => role !== "unrecognised");
    return { row: vault.unseal(row), messages: said, assistant, recording: recordingOf(row.id), url };
  }

  return {
    url,
    recordingOf,
    now: () => clock.now(),
    timestamp,
    get: (id: string) => calls.get(id),
    all: () => calls.all(),
    messagesOf,
    rename: (id: string, name: string | null) => change(id, { name }),
    remove(id: string): void {
      for (const message of messages.find({ call_id: id })) messages.remove(message.id);
      calls.remove(id);
    },

    create(row: Parameters<typeof calls.insert>[0]): Readonly<CallRow> {
      return calls.insert(vault.seal(row));
    },

    markStarted(id: string): void {
      change(id, { status: "in-progress", started_at: timestamp() });
    },

    markEnded(id: string, endedReason: string | undefined): void {
      if (calls.get(id)?.status === "ended") return;
      change(id, { status: "ended", ended_at: timestamp(), ended_reason: endedReason ?? null });
    },

    recordOutcome(id: string, endedReason: string, durationMs: number, performance: Members): void {
      const row = calls.get(id);
      const changes: CallChanges = { ended_reason: endedReason, duration_ms: durationMs, performance };
      change(id, row?.status === "ended" ? changes : { ...changes, status: "ended", ended_at: timestamp() });
    },

    record(plan: CallPlan, entry: SessionRecord, latency?: TurnLatency): void {
      const position = messages.find({ call_id: plan.callId }).length;
      tolerateRefusal(() =>
        messages.insert({
          id: `${plan.callId}:${position}`,
          call_id: plan.callId,
          simulation_id: plan.simulationId ?? null,
          position,
          recorded_at: timestamp(),
          ...messageColumns(entry),
          latency: latency === undefined ? null : latencyColumn(latency),
        }),
      );
    },

    spoken(simulationId: string): SpokenLine[] {
      return messages.find({ simulation_id: simulationId }).flatMap((row) => {
        const { role, text, call_id: callId, recorded_at } = row;
        if ((role !== "user" && role !== "assistant") || recorded_at === null) return [];
        return [{ atMs: Date.parse(recorded_at), callId, speaker: role, text }];
      });
    },

    /** The call in API answers. */
    summary: (row: Readonly<CallRow>, assistant: Assistant) => callSummary(view(row, assistant)),
    body: (row: Readonly<CallRow>, assistant: Assistant) => callBody(view(row, assistant)),

    /** The members common to all server messages of a call. */
    envelope(id: string, assistant: Assistant): Envelope {
      const row = calls.get(id);
      if (!row) return { assistant, artifact: {} };
      const seen = view(row, assistant);
      return {
        artifact: callArtifact(seen),
        call: callSummary(seen),
        assistant,
        ...("customer" in row.details ? { customer: row.details.customer } : {}),
      };
    },

    /** The call as its model server sees it: secrets of tools and other servers stay sealed. */
    callForModel(id: string, assistant: Assistant): ModelCallInfo {
      const row = calls.get(id);
      if (!row) return { call: { id } };
      return {
        call: vault.seal(callSummary(view(row, assistant))),
        ...("customer" in row.details ? { customer: row.details.customer } : {}),
      };
    },

    /** The members of an end-of-call report. Source: ServerMessageEndOfCallReport of @vapi-ai/server-sdk. */
    report(id: string, assistant: Assistant): Members {
      const row = calls.get(id);
      if (!row) return {};
      const artifact = callArtifact(view(row, assistant));
      const durationMs = row.duration_ms ?? 0;
      return {
        endedReason: row.ended_reason,
        startedAt: row.started_at,
        endedAt: row.ended_at,
        durationMs,
        durationSeconds: durationMs / 1000,
        durationMinutes: durationMs / 60_000,
        cost: 0,
        costs: [],
        analysis: {},
        transcript: artifact.transcript,
        messages: artifact.messages,
        recordingUrl: artifact.recordingUrl,
        stereoRecordingUrl: artifact.stereoRecordingUrl,
      };
    },
  };
}

function beginMs(row: Readonly<MessageRow>): number {
  return row.start_ms ?? row.end_ms ?? 0;
}

function messageColumns(entry: SessionRecord): Pick<MessageRow, "role" | "text"> & Partial<MessageRow> {
  switch (entry.role) {
    case "tool_call":
      return {
        role: "tool_call",
        text: "",
        name: entry.call.name,
        arguments: entry.call.arguments,
        tool_call_id: entry.call.id,
        start_ms: entry.startMs,
      };
    case "tool_result":
      return {
        role: "tool_result",
        text: entry.outcome.content ?? NO_RESULT,
        name: entry.outcome.call.name,
        tool_call_id: entry.outcome.call.id,
        end_ms: entry.endMs,
      };
    case "unrecognised":
      return { role: "unrecognised", text: "", start_ms: entry.startMs, end_ms: entry.endMs };
    case "assistant":
      return {
        role: "assistant",
        text: entry.text,
        start_ms: entry.startMs,
        end_ms: entry.endMs,
        interrupted: entry.interrupted ?? false,
      };
    case "user":
      return { role: "user", text: entry.text, start_ms: entry.startMs, end_ms: entry.endMs };
  }
}

function latencyColumn(latency: TurnLatency): NonNullable<MessageRow["latency"]> {
  return {
    endpointing_ms: latency.endpointingLatency,
    transcriber_ms: latency.transcriberLatency,
    model_ms: latency.modelLatency,
    voice_ms: latency.voiceLatency,
    turn_ms: latency.turnLatency,
  };
}
