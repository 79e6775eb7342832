/**
 * Settings of the event collector: the stanzas `[http]` of inputs.conf and `[http_input]` of limits.conf. `queueSize` is an undocumented
 * setting of `[http]` that exists in practice.
 */
import { isOn, sizeBytes, wholeNumber } from "../conf/values.ts";
import { readStanza } from "../world/stanza.ts";
import type { LogQueryTables } from "../world/tables.ts";

export interface CollectorSettings {
  readonly disabled: boolean;
  /** `warn_at_80`: warns above 80 %, and refuses with 429 instead of 503. */
  readonly warns: boolean;
  /** Bytes of requests that may wait to be stored; `undefined`: limited by the store alone. */
  readonly queueBytes: number | undefined;
  readonly channels: ChannelLimits;
  /** Prefixes of cookie names, one of which a request with acknowledgement needs; empty: no cookie is required. */
  readonly stickyCookies: readonly string[];
}

export interface ChannelLimits {
  readonly channels: number;
  /** Stored requests without a query, in all channels together. */
  readonly pending: number;
  readonly pendingOfChannel: number;
  /** Idle time after which a channel is removed; `undefined`: never. */
  readonly idleMs: number | undefined;
}

/** Limits of one process: the vendor's defaults are ten to a hundred times as high. */
const MAX_CHANNELS = 10_000;
const MAX_PENDING_OF_CHANNEL = 100_000;
const MAX_PENDING = 1_000_000;
const IDLE_S = 600;

export function readCollectorSettings(tables: LogQueryTables): CollectorSettings {
  const http = readStanza(tables, "inputs/http");
  const limits = readStanza(tables, "limits/http_input");
  const capped = (name: string, max: number) => Math.min(wholeNumber(limits[name], max), max);
  const blocks = http.headerEnforcementMode?.toLowerCase() === "block";
  return {
    disabled: isOn(http.disabled),
    warns: http.backpressureState === "warn_at_80",
    queueBytes: sizeBytes(http.queueSize),
    channels: {
      channels: capped("max_number_of_ack_channel", MAX_CHANNELS),
      pending: capped("max_number_of_acked_requests_pending_query", MAX_PENDING),
      pendingOfChannel: capped(
        "max_number_of_acked_requests_pending_query_per_ack_channel",
        MAX_PENDING_OF_CHANNEL,
      ),
      idleMs: isOn(http.ackIdleCleanup) ? wholeNumber(http.maxIdleTime, IDLE_S) * 1000 : undefined,
    },
    stickyCookies: blocks ? listOf(http.ackRequiredAnyCookie) : [],
  };
}

function listOf(text = ""): string[] {
  return text
    .split(",")
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== "");
}
