/** Labels a turn of the call, so that the recogniser knows it from the next turn on. */
import { CALLER_RATE, samplesToMs } from "@offhook/audio/signal";
import { useMemo, useState } from "preact/hooks";
import { type ApiError, isApiError } from "../api/client.ts";
import { place } from "../place.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/feedback.tsx";
import { Field } from "../ui/field.tsx";
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
        <Field label="What was said" problem={problemOf(keeping.failure, "text")}>
          {(control) => (
            <input
              {...control}
              value={text}
              required
              autocomplete="off"
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
        <Field
          label="Name"
          hint="Lower case words joined by hyphens; scenarios say it by this name."
          problem={problemOf(keeping.failure, "name")}
        >
          {(control) => (
            <input
              {...control}
              value={name}
              required
              autocomplete="off"
              onInput={({ currentTarget }) => setOwnName(currentTarget.value)}
            />
          )}
        </Field>
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
