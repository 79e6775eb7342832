/** The buttons of the player, each with its key; the sound itself. */
import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatPosition } from "../ui/format.ts";
import { useKeys } from "../ui/keys.tsx";
import { type Player, RATES } from "./player.ts";
import { isTool, type Line } from "./timeline.ts";

const SKIP_MS = 5_000;
/** Within this much of a turn's beginning, "previous" means the one before. */
const RESTART_MS = 800;

export interface PlayerBarProps {
  player: Player;
  /** Address of the recording; absent where there is none. */
  source: string | undefined;
  isRunning: boolean;
  lines: readonly Line[];
  durationMs: number;
  follows: boolean;
  onFollow(follows: boolean): void;
}

export function PlayerBar({
  player,
  source,
  isRunning,
  lines,
  durationMs,
  follows,
  onFollow,
}: PlayerBarProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const [loaded, setLoaded] = useState<string>();
  useEffect(() => (audio.current ? player.attach(audio.current) : undefined), []);
  useEffect(() => {
    if (!isRunning) setLoaded(source);
  }, [source, isRunning]);

  const play = () => {
    // Of a running call what there is by now is loaded for each listening.
    if (isRunning && source !== undefined && audio.current && !player.isPlaying.peek()) {
      audio.current.src = `${source}?until=${Math.round(durationMs)}`;
    }
    void player.toggle();
  };
  const seekTurn = (find: (starts: readonly number[], ms: number) => number | undefined) => {
    const starts = lines.filter((line) => !isTool(line)).map(({ startMs }) => startMs);
    const to = find(starts, player.positionMs.peek());
    if (to !== undefined) player.seek(to);
  };
  const previous = () => seekTurn((starts, ms) => starts.findLast((start) => start < ms - RESTART_MS) ?? 0);
  const next = () => seekTurn((starts, ms) => starts.find((start) => start > ms + 1));
  const skip = (byMs: number) => player.seek(Math.min(durationMs, player.positionMs.peek() + byMs));
  useKeys([
    { keys: " ", what: "Play or pause", run: play },
    { keys: "j", what: "Back 5 s", run: () => skip(-SKIP_MS) },
    { keys: "l", what: "Forward 5 s", run: () => skip(SKIP_MS) },
    { keys: "p", what: "Previous turn", run: previous },
    { keys: "n", what: "Next turn", run: next },
  ]);
  const isPlaying = player.isPlaying.value;
  return (
    <div class="call-player" role="toolbar" aria-label="Player">
      {/* biome-ignore lint/a11y/useMediaCaption: the transcript below is the caption */}
      <audio ref={audio} src={loaded} preload="metadata" />
      <button
        type="button"
        class="button primary call-play"
        disabled={source === undefined || durationMs === 0}
        onClick={play}
      >
        {isPlaying ? "Pause" : "Play"}
      </button>
      <Clock player={player} durationMs={durationMs} />
      <span class="call-player-group">
        <button type="button" class="button small" onClick={previous}>
          Previous turn
        </button>
        <button type="button" class="button small" onClick={next}>
          Next turn
        </button>
        <button type="button" class="button small" onClick={() => skip(-SKIP_MS)}>
          −5 s
        </button>
        <button type="button" class="button small" onClick={() => skip(SKIP_MS)}>
          +5 s
        </button>
      </span>
      <label class="call-player-option">
        Speed{" "}
        <select
          value={String(player.rate.value)}
          onChange={({ currentTarget }) => player.setRate(Number(currentTarget.value))}
        >
          {RATES.map((rate) => (
            <option key={rate} value={String(rate)}>
              {rate}×
            </option>
          ))}
        </select>
      </label>
      <label class="call-player-option" title="Keep the line that plays in view">
        <input
          type="checkbox"
          checked={follows}
          onChange={({ currentTarget }) => onFollow(currentTarget.checked)}
        />{" "}
        Follow
      </label>
      {player.problem.value ? <span class="tag warn">{player.problem.value}</span> : null}
    </div>
  );
}

function Clock({ player, durationMs }: { player: Player; durationMs: number }) {
  const text = useComputed(() => formatPosition(player.positionMs.value));
  return (
    <span class="call-player-clock mono">
      {text} / {formatPosition(durationMs)}
    </span>
  );
}
