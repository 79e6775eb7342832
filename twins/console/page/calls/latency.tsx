/** How long the caller waited for an answer, and for what. */
import { formatDuration } from "../ui/format.ts";
import { MIN_OTHER_MS, partsOf } from "./latency-parts.ts";
import type { Latency } from "./types.ts";

export interface LatencyBarProps {
  latency: Latency;
  /** What a full bar stands for. */
  longestMs: number;
  /** How many times faster than real time the call was placed. */
  speed: number;
  toolMs: number;
}

/** A stacked bar with its figures. */
export function LatencyBar({ latency, longestMs, speed, toolMs }: LatencyBarProps) {
  const parts = partsOf(latency, speed, toolMs);
  const overlapMs = parts.reduce((sum, { audioMs }) => sum + audioMs, 0) - latency.turn_ms;
  const hint =
    speed === 1
      ? "From the caller's last sound to the first of the answer"
      : `Audio of the call, placed at ${speed} times real time: computing takes its time at any speed`;
  return (
    <div class="call-latency">
      <span class="call-latency-total" title={hint}>
        <strong>{formatDuration(latency.turn_ms)}</strong> {speed === 1 ? "until" : "of audio until"} the
        answer
      </span>
      <span class="call-latency-bar" aria-hidden="true">
        {parts.map(({ name, audioMs }) => (
          <span key={name} class={name} style={{ width: `${(audioMs / Math.max(longestMs, 1)) * 100}%` }} />
        ))}
      </span>
      <span class="call-latency-figures">
        {parts.map(({ name, what, ms }) => (
          <span key={name} class="call-figure" title={`${formatDuration(ms)} ${what}`}>
            <i class={`call-swatch ${name}`} />
            {name} {formatDuration(ms)}
          </span>
        ))}
        {speed === 1 && overlapMs >= MIN_OTHER_MS ? (
          <span class="call-figure" title="Parts are computed at the same time, or while the caller is heard">
            less {formatDuration(overlapMs)} at the same time
          </span>
        ) : null}
      </span>
    </div>
  );
}
