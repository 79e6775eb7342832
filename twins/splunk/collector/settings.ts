/**
 * How the event collector is set: the stanza `[http]` of inputs.conf and `[http_input]` of limits.conf. `queueSize` is not among the
 * documented settings of `[http]`, but is set there in practice.
 */
import { isOn, sizeBytes, wholeNumber } from "../conf/values.ts";
import { stanza } from "../world/stanza.ts";
import type { LogQueryTables } from "../world/tables.ts";
import { memoizeByVersion } from "./made-of-tables.ts";

export interface CollectorSettings {
  readonly disabled: boolean;
  /** `warn_at_80`: warns from 80 % on, and refuses with 429 in place of 503. */
  readonly warns: boolean;
  /** Bytes of requests that may wait to be stored; `undefined`: as many as the store takes. */
  readonly queueBytes: number | undefined;
  readonly channels: ChannelLimits;
  /** Names of which a cookie has to begin with one when requests are acknowledged; none: no cookie is asked for. */
  readonly stickyCookies: readonly string[];
}

export interface ChannelLimits {
  readonly channels: number;
  /** Requests that nobody has asked about, in all channels together. */
  readonly pending: number;
  readonly pendingOfChannel: number;
  /** A channel that is not used for so long is forgotten; `undefined`: none is. */
  readonly idleMs: number | undefined;
}

/** What one process has to spare; the vendor's defaults are a hundred times as much. */
const MAX_CHANNELS = 10_000;
const MAX_PENDING_OF_CHANNEL = 100_000;
const MAX_PENDING = 1_000_000;
const IDLE_S = 600;

export const collectorSettings = memoizeByVersion(readSettings);

function readSettings(tables: LogQueryTables): CollectorSettings {
  const http = stanza(tables, "inputs/http");
  const limits = stanza(tables, "limits/http_input");
  const atMost = (name: string, most: number) => Math.min(wholeNumber(limits[name], most), most);
  const blocks = http.headerEnforcementMode?.toLowerCase() === "block";
  return {
    disabled: isOn(http.disabled),
    warns: http.backpressureState === "warn_at_80",
    queueBytes: sizeBytes(http.queueSize),
    channels: {
      channels: atMost("max_number_of_ack_channel", MAX_CHANNELS),
      pending: atMost("max_number_of_acked_requests_pending_query", MAX_PENDING),
      pendingOfChannel: atMost(
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
