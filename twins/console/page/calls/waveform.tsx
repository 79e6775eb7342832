/** The call as a picture of its sound: two lanes, one playhead, its turns as blocks and its tools as marks. */
import "./sound.css";
import { useComputed, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatPosition } from "../ui/format.ts";
import { useKeys } from "../ui/keys.tsx";
import { drawLane, type Lanes, loudestOf, type Peaks } from "./peaks.ts";
import type { Player } from "./player.ts";
import { type Line, lineAt } from "./timeline.ts";

const MAX_ZOOM = 64;
/** Steps of the keys. */
const STEP_MS = 1_000;
const PAGE_MS = 10_000;
/** How often a screen reader is told where the playhead is. */
const ANNOUNCE_MS = 250;
/** Part of the view at which the playhead enters when the view follows it. */
const LEAD = 0.1;

export interface WaveformProps {
  player: Player;
  peaks: Peaks | undefined;
  lines: readonly Line[];
  durationMs: number;
  /** A block or mark was chosen. */
  onChoose(line: Line): void;
  /** What stands above it, beside its own buttons. */
  children: ComponentChildren;
}

export function Waveform({ player, peaks, lines, durationMs, onChoose, children }: WaveformProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const [view, setView] = useState({ width: 0, left: 0 });
  const loudest = useMemo(() => (peaks ? loudestOf(peaks.lanes) : 1), [peaks]);
  const lengthMs = Math.max(durationMs, 1);
  const trackWidth = view.width * zoom;

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => setView({ width: element.clientWidth, left: element.scrollLeft });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  const zoomTo = (next: number) => {
    const bounded = Math.min(MAX_ZOOM, Math.max(1, next));
    setZoom(bounded);
    const element = scroller.current;
    if (element === null) return;
    // The playhead stays in the middle.
    const middle = (player.positionMs.peek() / lengthMs) * element.clientWidth * bounded;
    requestAnimationFrame(() => {
      element.scrollLeft = middle - element.clientWidth / 2;
    });
  };
  useKeys([
    { keys: "+", what: "Zoom in", run: () => zoomTo(zoom * 2) },
    { keys: "-", what: "Zoom out", run: () => zoomTo(zoom / 2) },
    { keys: "0", what: "The whole call", run: () => zoomTo(1) },
    { keys: "ArrowLeft ArrowRight", what: "On the picture of the sound: back or forward 1 s" },
    { keys: "PageDown PageUp", what: "On the picture of the sound: back or forward 10 s" },
    { keys: "Home End", what: "On the picture of the sound: its beginning or end" },
  ]);

  useSignalEffect(() => {
    const element = scroller.current;
    const at = (player.positionMs.value / lengthMs) * trackWidth;
    if (element === null || !player.isPlaying.value || zoom === 1) return;
    const isSeen = at >= element.scrollLeft && at <= element.scrollLeft + element.clientWidth;
    if (!isSeen) element.scrollLeft = at - element.clientWidth * LEAD;
  });

  const shown = {
    fromMs: trackWidth === 0 ? 0 : (view.left / trackWidth) * lengthMs,
    toMs: trackWidth === 0 ? lengthMs : ((view.left + view.width) / trackWidth) * lengthMs,
  };
  return (
    <div class="call-wave">
      <div class="call-wave-head">
        {children}
        <span class="call-player-group">
          <button type="button" class="button small" disabled={zoom <= 1} onClick={() => zoomTo(zoom / 2)}>
            Zoom out
          </button>
          <button
            type="button"
            class="button small"
            disabled={zoom >= MAX_ZOOM}
            onClick={() => zoomTo(zoom * 2)}
          >
            Zoom in
          </button>
          {zoom > 1 ? (
            <button type="button" class="button small" onClick={() => zoomTo(1)}>
              Whole call
            </button>
          ) : null}
        </span>
      </div>
      <div class="call-wave-scroll" ref={scroller}>
        <div class="call-wave-track" style={{ width: `${zoom * 100}%` }}>
          <SeekSlider player={player} lines={lines} lengthMs={lengthMs}>
            <Lane side="caller" peaks={peaks} view={shown} width={view.width} loudest={loudest} />
            <Lane side="assistant" peaks={peaks} view={shown} width={view.width} loudest={loudest} />
          </SeekSlider>
          <Blocks lines={lines} lengthMs={lengthMs} onChoose={onChoose} />
          <Playhead player={player} lengthMs={lengthMs} />
          <Ruler shown={shown} lengthMs={lengthMs} />
        </div>
      </div>
    </div>
  );
}

interface LaneProps {
  side: keyof Lanes;
  peaks: Peaks | undefined;
  view: { fromMs: number; toMs: number };
  width: number;
  loudest: number;
}

function Lane({ side, peaks, view, width, loudest }: LaneProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { fromMs, toMs } = view;
  const values = peaks?.lanes[side];
  useEffect(() => {
    const draw = () => {
      if (canvas.current) drawLane(canvas.current, values ?? new Int8Array(), { fromMs, toMs }, loudest);
    };
    draw();
    const theme = window.matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", draw);
    return () => theme.removeEventListener("change", draw);
  }, [values, fromMs, toMs, width, loudest]);
  return <canvas ref={canvas} class={`call-lane ${side}`} style={{ width: `${width}px` }} />;
}

interface SliderProps {
  player: Player;
  lines: readonly Line[];
  lengthMs: number;
  children: ComponentChildren;
}

/** Seeks by pointer and by keys. */
function SeekSlider({ player, lines, lengthMs, children }: SliderProps) {
  const step = useComputed(() => Math.round(player.positionMs.value / ANNOUNCE_MS) * ANNOUNCE_MS);
  const isAtEnd = useComputed(() => player.positionMs.value >= lengthMs);
  const atMs = isAtEnd.value ? Math.round(lengthMs) : Math.min(step.value, Math.round(lengthMs));
  const seekTo = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    player.seek(Math.min(1, Math.max(0, (event.clientX - left) / width)) * lengthMs);
  };
  const moves: Readonly<Record<string, () => number>> = {
    ArrowLeft: () => player.positionMs.peek() - STEP_MS,
    ArrowDown: () => player.positionMs.peek() - STEP_MS,
    ArrowRight: () => player.positionMs.peek() + STEP_MS,
    ArrowUp: () => player.positionMs.peek() + STEP_MS,
    PageDown: () => player.positionMs.peek() - PAGE_MS,
    PageUp: () => player.positionMs.peek() + PAGE_MS,
    Home: () => 0,
    End: () => lengthMs,
  };
  return (
    <div
      class="call-wave-slider"
      role="slider"
      tabIndex={0}
      aria-label="Position in the call"
      aria-valuemin={0}
      aria-valuemax={Math.round(lengthMs)}
      aria-valuenow={atMs}
      aria-valuetext={describePosition(atMs, lengthMs, lines)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
      }}
      onKeyDown={(event) => {
        const move = moves[event.key];
        if (event.key === " " || event.key === "Enter") void player.toggle();
        else if (move) player.seek(Math.min(lengthMs, move()));
        else return;
        event.preventDefault();
      }}
    >
      {children}
    </div>
  );
}

function describePosition(ms: number, lengthMs: number, lines: readonly Line[]): string {
  const line = lineAt(lines, ms);
  const speaker = line === undefined || line.endMs < ms ? "silence" : line.kind;
  return `${formatPosition(ms)} of ${formatPosition(lengthMs)}, ${speaker}`;
}

function Playhead({ player, lengthMs }: { player: Player; lengthMs: number }) {
  const element = useRef<HTMLDivElement>(null);
  useSignalEffect(() => {
    if (element.current) element.current.style.left = percent(player.positionMs.value, lengthMs);
  });
  useEffect(() => {
    if (element.current) element.current.style.left = percent(player.positionMs.peek(), lengthMs);
  }, [lengthMs]);
  return <div class="call-playhead" ref={element} />;
}

function percent(ms: number, lengthMs: number): string {
  return `${Math.min(100, (ms / lengthMs) * 100)}%`;
}

interface BlocksProps {
  lines: readonly Line[];
  lengthMs: number;
  onChoose(line: Line): void;
}

/** One stop of the Tab key; the arrow keys move from block to block. */
function Blocks({ lines, lengthMs, onChoose }: BlocksProps) {
  const [current, setCurrent] = useState(0);
  const group = useRef<HTMLDivElement>(null);
  const stop = Math.min(current, lines.length - 1);
  const move = (to: number) => {
    const next = Math.min(lines.length - 1, Math.max(0, to));
    setCurrent(next);
    const button = group.current?.children.item(next);
    if (button instanceof HTMLElement) button.focus();
  };
  const targets: Readonly<Record<string, number>> = {
    ArrowRight: stop + 1,
    ArrowLeft: stop - 1,
    Home: 0,
    End: lines.length - 1,
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's
    <div
      class="call-blocks"
      role="group"
      aria-label="Turns and tools"
      ref={group}
      onKeyDown={(event) => {
        const to = targets[event.key];
        if (to === undefined) return;
        event.preventDefault();
        move(to);
      }}
    >
      {lines.map((line, index) => (
        <button
          key={line.id}
          type="button"
          class={`call-block ${line.kind}${isUnrecognised(line) ? " call-unheard" : ""}`}
          tabIndex={index === stop ? 0 : -1}
          style={{
            left: percent(line.startMs, lengthMs),
            width: percent(Math.min(line.endMs, lengthMs) - line.startMs, lengthMs),
          }}
          aria-label={labelOf(line)}
          title={labelOf(line)}
          onFocus={() => setCurrent(index)}
          onClick={() => onChoose(line)}
        />
      ))}
    </div>
  );
}

function isUnrecognised(line: Line): boolean {
  return line.kind === "caller" && line.message?.role !== "user";
}

function labelOf(line: Line): string {
  const at = formatPosition(line.startMs);
  if (line.kind === "tool") return `${at} tool ${line.call.name ?? ""}`;
  if (line.kind === "assistant") return `${at} assistant: ${line.message.text}`;
  if (isUnrecognised(line)) return `${at} caller, not recognised: ${line.said?.text ?? ""}`;
  return `${at} caller: ${line.message?.text ?? ""}`;
}

/** Distances of the ruler's figures. */
const RULER_STEPS_MS = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000, 3_600_000];
const MAX_FIGURES = 10;

function Ruler({ shown, lengthMs }: { shown: { fromMs: number; toMs: number }; lengthMs: number }) {
  const spanMs = shown.toMs - shown.fromMs;
  const stepMs = RULER_STEPS_MS.find((each) => spanMs / each <= MAX_FIGURES) ?? spanMs;
  const first = Math.floor(shown.fromMs / stepMs);
  const count = Math.ceil(spanMs / stepMs) + 1;
  const figures = Array.from({ length: count }, (_, index) => (first + index) * stepMs);
  return (
    <div class="call-ruler" aria-hidden="true">
      {figures
        .filter((ms) => ms <= lengthMs)
        .map((ms) => (
          <span key={ms} style={{ left: percent(ms, lengthMs) }}>
            {formatPosition(ms).replace(/\.\d$/, "")}
          </span>
        ))}
    </div>
  );
}
