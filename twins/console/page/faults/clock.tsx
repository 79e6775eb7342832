/** The sandbox's clock: frozen, set to a time, sped up, or live. */
import { useRef, useState } from "preact/hooks";
import { type ApiError, isApiError, send } from "../api/client.ts";
import { type Clock, useClock, useClockPath } from "../api/clock.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { Field } from "../ui/field.tsx";
import { useAction, useNow } from "../ui/hooks.ts";

export function ClockCard() {
  const clock = useClock();
  const path = useClockPath("clock") ?? "";
  const livePath = useClockPath("reset-world") ?? "";
  const setting = useAction<ApiError>(isApiError);
  const put = (body: object) => setting.run(() => send("PUT", path, body)).then(clock.reload);
  const setLive = () => setting.run(() => send("POST", livePath)).then(clock.reload);
  return (
    <section class="card" aria-labelledby="clock-title">
      <h2 id="clock-title">Clock of the sandbox</h2>
      {clock.error ? <Failure error={clock.error} retry={clock.reload} /> : null}
      {clock.data ? <Time clock={clock.data} /> : null}
      {clock.isLoading ? <Loading /> : null}
      <div class="toolbar">
        {clock.data?.speed === 0 ? (
          <button type="button" class="button" onClick={() => void put({ now: clock.data?.now, speed: 1 })}>
            Let it run
          </button>
        ) : (
          <button type="button" class="button" onClick={() => void put({ frozen: true })}>
            Freeze
          </button>
        )}
        <button
          type="button"
          class="button"
          disabled={clock.data?.mode === "live"}
          onClick={() => void setLive()}
        >
          Return to live time
        </button>
      </div>
      <SetForm onSet={(body) => void put(body)} />
      {setting.failure ? <Failure error={setting.failure} /> : null}
    </section>
  );
}

function Time({ clock }: { clock: Clock }) {
  const now = useNow();
  const shown = new Date(Date.parse(clock.now) + Math.max(0, now - clock.readAtMs) * clock.speed);
  return (
    <p>
      <strong class="mono">{shown.toISOString().replace("T", " ").slice(0, 19)} UTC</strong>{" "}
      <span class={clock.mode === "live" ? "tag good" : "tag warn"}>
        {clock.mode === "live" ? "real time" : clock.mode}
      </span>
      {clock.speed > 1 || (clock.speed > 0 && clock.speed < 1) ? (
        <span class="quiet"> {clock.speed} times as fast</span>
      ) : null}
    </p>
  );
}

function SetForm({ onSet }: { onSet(body: object): void }) {
  const [problem, setProblem] = useState<string>();
  const time = useRef<HTMLInputElement>(null);
  const speed = useRef<HTMLInputElement>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const now = time.current?.value ?? "";
    const factor = speed.current?.value ?? "";
    if (now === "" && factor === "") {
      setProblem("Give a time, a speed, or both.");
      return;
    }
    setProblem(undefined);
    onSet({
      ...(now === "" ? {} : { now: new Date(`${now}Z`).toISOString() }),
      ...(factor === "" ? {} : { speed: Number(factor) }),
    });
  };
  return (
    <form class="toolbar" onSubmit={submit}>
      <Field label="Time (UTC)" problem={problem}>
        {(control) => <input {...control} ref={time} type="datetime-local" step={1} />}
      </Field>
      <Field label="Speed, times real time">
        {(control) => (
          <input {...control} ref={speed} type="number" min={0.001} max={10_000} step="any" placeholder="1" />
        )}
      </Field>
      <button type="submit" class="button">
        Set the clock
      </button>
    </form>
  );
}
