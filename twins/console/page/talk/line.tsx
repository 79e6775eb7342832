/** A call that is up: its state, both levels, and what can be done. */
import { type ReadonlySignal, useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatPosition } from "../ui/format.ts";
import { useAction } from "../ui/hooks.ts";
import { useKeys } from "../ui/keys.tsx";
import type { PhoneCall } from "./phone-call.ts";
import { SoundError } from "./sound.ts";

const STATES = {
  dialling: { className: "tag", text: "Dialling" },
  ringing: { className: "tag warn", text: "Ringing" },
  talking: { className: "tag good", text: "Talking" },
  ended: { className: "tag", text: "Ended" },
} as const;

const MICROPHONE_WORDS = {
  none: { action: "Open the microphone", state: "no microphone" },
  open: { action: "Mute", state: "microphone open" },
  muted: { action: "Unmute", state: "muted" },
} as const;

/** @param isConnected the agent's runtime has taken the call; an assistant that waits says nothing by itself */
export function Line({ phone, isConnected }: { phone: PhoneCall; isConnected: boolean }) {
  const opening = useAction((error): error is SoundError => error instanceof SoundError);
  const { name } = phone.state.value;
  const state = STATES[name === "ringing" && isConnected ? "talking" : name];
  const microphone = phone.microphone.value;
  const saying = phone.saying.value;

  const switchMicrophone = () => {
    if (microphone === "open") phone.mute();
    else if (microphone === "muted") phone.unmute();
    else void opening.run(() => phone.openMicrophone());
  };
  useKeys([
    { keys: "h", what: "hang up", run: () => phone.hangUp() },
    { keys: "m", what: "open, mute or unmute the microphone", run: switchMicrophone },
  ]);

  return (
    <>
      <div class="toolbar line">
        <span class={state.className} role="status">
          {state.text}
        </span>
        <span class="mono elapsed">{formatPosition(phone.elapsedMs.value).replace(/\.\d$/, "")}</span>
        <span class="quiet">
          {saying === undefined ? MICROPHONE_WORDS[microphone].state : `says the sample ${saying}`}
        </span>
        <span class="end">
          <button type="button" class="button" disabled={opening.isRunning} onClick={switchMicrophone}>
            {MICROPHONE_WORDS[microphone].action} <kbd>m</kbd>
          </button>
          <button type="button" class="button danger" onClick={() => phone.hangUp()}>
            Hang up <kbd>h</kbd>
          </button>
        </span>
      </div>
      <Meters phone={phone} />
      {opening.failure ? (
        <div class="notice bad" role="alert">
          {opening.failure.message}
        </div>
      ) : null}
    </>
  );
}

function Meters({ phone }: { phone: PhoneCall }) {
  const caller = useComputed(() => phone.levels.value.caller);
  const assistant = useComputed(() => phone.levels.value.assistant);
  return (
    <div class="meters">
      <Meter label="You" side="caller" level={caller} />
      <Meter label="Assistant" side="assistant" level={assistant} />
    </div>
  );
}

/** Peaks below this show as nothing. */
const QUIETEST_DB = -60;

function Meter(props: { label: string; side: string; level: ReadonlySignal<number> }) {
  const { label, side, level } = props;
  const meter = useRef<HTMLMeterElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  // Fifty times a second: past the components, straight to the elements.
  useSignalEffect(() => {
    const decibels = level.value > 0 ? 20 * Math.log10(level.value) : QUIETEST_DB;
    const share = 1 - Math.max(decibels, QUIETEST_DB) / QUIETEST_DB;
    if (meter.current) meter.current.value = share;
    if (bar.current) bar.current.style.transform = `scaleX(${share.toFixed(3)})`;
  });
  return (
    <div class="meter-row">
      <span>{label}</span>
      {/* Every browser draws meters in its own way. */}
      <meter ref={meter} aria-label={label} class="visually-hidden" min={0} max={1} value={0} />
      <div class={`level ${side}`}>
        <div ref={bar} class="bar" />
      </div>
    </div>
  );
}
