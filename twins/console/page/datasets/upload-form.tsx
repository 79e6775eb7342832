/** Choosing a file and sending it. A dataset that is there is replaced only after a yes. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { Confirm } from "../ui/dialog.tsx";
import { Failure } from "../ui/feedback.tsx";
import { formatBytes } from "../ui/format.ts";
import { FileRefusal } from "./refusal.tsx";
import { type Dataset, type DatasetPlace, FORMATS, type Format, formatOf, readService } from "./types.ts";
import { type UploadAnswer, uploadFile, whenSettled } from "./upload.ts";

type State =
  | { kind: "choosing" }
  | { kind: "sending"; sentBytes: number; controller: AbortController }
  /** The twins have not noticed yet. */
  | { kind: "cancelling" }
  | { kind: "cancelled"; outcome: "unchanged" | "changed" }
  | { kind: "asking"; present: Dataset }
  | { kind: "refused"; error: ApiError; file: File }
  | { kind: "done"; answer: UploadAnswer };

export interface UploadFormProps extends DatasetPlace {
  /** Sandboxes that start again when the dataset changes. */
  sandboxes: readonly string[];
  onChanged(): void;
}

export function UploadForm({ environment, service, sandboxes, onChanged }: UploadFormProps) {
  const [file, setFile] = useState<File>();
  const [format, setFormat] = useState<Format>("csv");
  const [state, setState] = useState<State>({ kind: "choosing" });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setFile(chosen);
    setFormat((before) => formatOf(chosen.name) ?? before);
    setState({ kind: "choosing" });
  };

  const start = async () => {
    if (!file) return;
    const present = (await readService({ environment, service }))?.dataset;
    if (present) setState({ kind: "asking", present });
    else await transfer(file, undefined);
  };

  const transfer = async (chosen: File, present: Dataset | undefined) => {
    const controller = new AbortController();
    running.current = controller;
    setState({ kind: "sending", sentBytes: 0, controller });
    const onSent = (sentBytes: number) => setState({ kind: "sending", sentBytes, controller });
    try {
      const { signal } = controller;
      const answer = await uploadFile({
        environment,
        service,
        file: chosen,
        format,
        existing: present ? "replace" : "keep",
        onSent,
        signal,
      });
      setState({ kind: "done", answer });
      onChanged();
    } catch (error) {
      if (controller.signal.aborted) await cancel(present);
      else if (!(error instanceof ApiError)) throw error;
      else await explain(error, chosen);
    }
  };

  /** A file that had arrived before its upload was cancelled is there nevertheless. */
  const cancel = async (before: Dataset | undefined) => {
    setState({ kind: "cancelling" });
    const after = await whenSettled({ environment, service });
    const isSame = after?.created_at === before?.created_at;
    setState({ kind: "cancelled", outcome: isSame ? "unchanged" : "changed" });
    if (!isSame) onChanged();
  };

  /** Somebody else may have uploaded meanwhile, and a refusal before the file has arrived can reach us as a lost connection. */
  const explain = async (error: ApiError, chosen: File) => {
    const now =
      error.status === 409 || error.status === 0 ? await readService({ environment, service }) : undefined;
    setState(
      now?.dataset && !now.changing && error.status === 409
        ? { kind: "asking", present: now.dataset }
        : { kind: "refused", error, file: chosen },
    );
  };

  return (
    <section class="card" aria-labelledby="upload-title">
      <h2 id="upload-title">Upload a file</h2>
      <DropArea file={file} onChoose={choose} />
      <div class="toolbar">
        <fieldset class="formats">
          <legend class="visually-hidden">Format</legend>
          {FORMATS.map((each) => (
            <label key={each}>
              <input
                type="radio"
                name="format"
                value={each}
                checked={each === format}
                onChange={() => setFormat(each)}
              />{" "}
              {each.toUpperCase()}
            </label>
          ))}
        </fieldset>
        <button
          type="button"
          class="button primary"
          disabled={!file || state.kind === "sending" || state.kind === "cancelling"}
          onClick={() => void start()}
        >
          Upload
        </button>
      </div>
      <Outcome state={state} file={file} />
      {state.kind === "asking" && file ? (
        <Confirm
          title="Replace the dataset?"
          action="Delete and replace"
          run={() => void transfer(file, state.present)}
          onClose={() => setState((now) => (now.kind === "asking" ? { kind: "choosing" } : now))}
        >
          <p>
            {service} in environment {environment} has {state.present.rows.toLocaleString()} rows of{" "}
            {state.present.file_name ?? "a file without a name"}. They are deleted once the new file has been
            read; a file that is refused changes nothing.
          </p>
          <p>
            {sandboxes.length === 0
              ? "No sandbox uses them at the moment."
              : `${service} is reset in ${sandboxes.join(", ")}: what was written to it since its start is lost.`}
          </p>
        </Confirm>
      ) : null}
    </section>
  );
}

function DropArea({ file, onChoose }: { file: File | undefined; onChoose(file: File | undefined): void }) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the field does the same by keyboard
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onChoose(event.dataTransfer?.files[0]);
      }}
    >
      <label for={id}>Drop a CSV or NDJSON file here, gzip or not, or choose one</label>
      <input id={id} type="file" onChange={({ currentTarget }) => onChoose(currentTarget.files?.[0])} />
      {file ? (
        <span class="quiet">
          {file.name}, {formatBytes(file.size)}
        </span>
      ) : null}
    </div>
  );
}

function Outcome({ state, file }: { state: State; file: File | undefined }) {
  switch (state.kind) {
    case "sending":
      return (
        <Progress
          sentBytes={state.sentBytes}
          totalBytes={file?.size ?? 0}
          onCancel={() => state.controller.abort()}
        />
      );
    case "cancelling":
      return (
        <div class="notice" role="status">
          Cancelling…
        </div>
      );
    case "cancelled":
      return (
        <div class="notice" role="status">
          {state.outcome === "unchanged"
            ? "Cancelled. Nothing was changed."
            : "The file had arrived before it was cancelled: its rows are there."}
        </div>
      );
    case "refused":
      return state.error.problems.length > 0 ? (
        <FileRefusal error={state.error} file={state.file} />
      ) : (
        <Failure error={state.error} />
      );
    case "done":
      return <Done answer={state.answer} />;
    case "choosing":
    case "asking":
      return null;
  }
}

function Progress(props: { sentBytes: number; totalBytes: number; onCancel(): void }) {
  const { sentBytes, totalBytes, onCancel } = props;
  const isSent = totalBytes > 0 && sentBytes >= totalBytes;
  return (
    <div class="toolbar" role="status">
      <progress aria-label="Sent" max={totalBytes || 1} {...(isSent ? {} : { value: sentBytes })} />
      <span>
        {isSent ? "Sent; the twins read the rows" : `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}`}
      </span>
      <button type="button" class="button small" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function Done({ answer }: { answer: UploadAnswer }) {
  const reset = answer.sandboxes.filter(({ problem }) => problem === undefined).map(({ id }) => id);
  const failed = answer.sandboxes.filter(({ problem }) => problem !== undefined);
  return (
    <div class={failed.length === 0 ? "notice good" : "notice warn"} role="status">
      <p>
        {answer.rows.toLocaleString()} rows were read.
        {reset.length > 0 ? ` ${reset.join(", ")} ${reset.length === 1 ? "has" : "have"} them now.` : ""}
      </p>
      {failed.map(({ id, problem }) => (
        <p key={id}>
          {id} was not reset: {problem}
        </p>
      ))}
    </div>
  );
}
