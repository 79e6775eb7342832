/** How long the caller waited for an answer, and for what. */
import { formatDuration } from "../ui/format.ts";
import type { Latency } from "./types.ts";

interface Part {
  name: string;
  /** What the time went by with. */
  what: string;
  /** Time of the machine, or of the call for endpointing, which counts audio. */
  ms: number;
  /** What it took of the call: at ten times real time a second of computing is ten of audio. */
  audioMs: number;
}

function partsOf(latency: Latency, speed: number): Part[] {
  const computed = (name: string, what: string, ms: number) => {
    const bounded = Math.max(0, ms);
    return { name, what, ms: bounded, audioMs: bounded * speed };
  };
  const endpointing = computed("endpointing", "until the turn counted as over", latency.endpointing_ms);
  return [
    { ...endpointing, audioMs: endpointing.ms },
    computed("transcriber", "for the transcript", latency.transcriber_ms),
    computed("model", "for the model, with its tools", latency.model_ms),
    computed("voice", "for the voice", latency.voice_ms),
  ];
}

export interface LatencyBarProps {
  latency: Latency;
  /** What a full bar stands for. */
  longestMs: number;
  /** How many times faster than real time the call was placed. */
  speed: number;
}

/** A stacked bar with its figures. */
export function LatencyBar({ latency, longestMs, speed }: LatencyBarProps) {
  const parts = partsOf(latency, speed);
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
      </span>
    </div>
  );
}

/** What the longest bar of a call stands for. */
export function longestOf(latencies: readonly Latency[], speed: number): number {
  const sums = latencies.map((latency) =>
    partsOf(latency, speed).reduce((sum, { audioMs }) => sum + audioMs, 0),
  );
  return Math.max(0, ...sums);
}
