/** Labels a turn of the call, so that the recogniser knows it from the next turn on. */
import { CALLER_RATE, samplesToMs } from "@offhook/audio/signal";
import { useId, useMemo, useState } from "preact/hooks";
import { type ApiError, isApiError } from "../api/client.ts";
import { place } from "../place.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/feedback.tsx";
import { formatDuration } from "../ui/format.ts";
import { useAction, useObjectUrl } from "../ui/hooks.ts";
import { keepSample } from "./speech.ts";
import { wavOf } from "./wav.ts";

export interface KeepSampleProps {
  /** The turn, cut from what was sent. */
  audio: Int16Array;
  /** What the recogniser understood; empty for nothing. */
  heard: string;
  /** Why none can be kept, if so. */
  locked: string | undefined;
  onKept(): void;
  onClose(): void;
}

const NOTHING_HEARD = "nothing can be heard in it, or it was more than ten minutes ago";

export function KeepSample({ audio, heard, locked, onKept, onClose }: KeepSampleProps) {
  const { sandbox } = place.value;
  const [text, setText] = useState(heard);
  const [ownName, setOwnName] = useState<string>();
  const keeping = useAction(isApiError);
  const address = useObjectUrl(useMemo(() => wavOf(audio), [audio]));
  const name = ownName ?? nameOf(text);
  const keep = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(await keeping.run(() => keepSample(sandbox, { name, text, samples: audio })))) return;
    onKept();
    onClose();
  };
  const obstacle = audio.length === 0 ? NOTHING_HEARD : locked;
  if (obstacle !== undefined) {
    return (
      <Dialog title="Keep as sample" onClose={onClose}>
        <p>This cannot be kept: {obstacle}.</p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Keep as sample" onClose={onClose}>
      <form onSubmit={(event) => void keep(event)}>
        {/* biome-ignore lint/a11y/useMediaCaption: its words are the field below */}
        <audio controls src={address} aria-label="The recording" />
        <p class="quiet">
          {formatDuration(samplesToMs(audio.length, CALLER_RATE))}, without the silence around it.
        </p>
        <Field
          label="What was said"
          value={text}
          problem={problemOf(keeping.failure, "text")}
          onInput={setText}
        />
        <Field
          label="Name"
          hint="Lower case words joined by hyphens; scenarios say it by this name."
          value={name}
          problem={problemOf(keeping.failure, "name")}
          onInput={setOwnName}
        />
        {keeping.failure && !isOfField(keeping.failure) ? <Failure error={keeping.failure} /> : null}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={keeping.isRunning}>
            Keep
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  label: string;
  value: string;
  hint?: string;
  problem: string | undefined;
  onInput(value: string): void;
}

function Field({ label, value, hint, problem, onInput }: FieldProps) {
  const [id, noteId] = [useId(), useId()];
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <input
        id={id}
        value={value}
        required
        autocomplete="off"
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={noteId}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <span id={noteId} class={problem === undefined ? "hint" : "problem"}>
        {problem ?? hint}
      </span>
    </div>
  );
}

type FieldName = "name" | "text";

/** The twin says which field is wrong, or that the name is another sample's. */
function problemOf(error: ApiError | undefined, field: FieldName): string | undefined {
  if (error === undefined) return undefined;
  if (error.status === 409 && field === "name") return error.message;
  const ofField = error.problems.filter((problem) => problem.field === field);
  return ofField.length > 0 ? ofField.map(({ rule }) => rule).join("; ") : undefined;
}

function isOfField(error: ApiError): boolean {
  return problemOf(error, "name") !== undefined || problemOf(error, "text") !== undefined;
}

/** `i-want-to-talk`, of a sentence's first words. */
function nameOf(text: string): string {
  const words =
    text
      .toLowerCase()
      .normalize("NFD")
      .match(/[a-z0-9]+/g) ?? [];
  return words.slice(0, NAME_WORDS).join("-");
}

const NAME_WORDS = 5;
