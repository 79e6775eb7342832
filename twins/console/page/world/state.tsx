/** A twin's state as a whole: taken as a snapshot, put back, reset. */
import { useRef, useState } from "preact/hooks";
import { type ApiError, controlPath, isApiError, refusalOf, send } from "../api/client.ts";
import { place } from "../place.ts";
import { Confirm } from "../ui/dialog.tsx";
import { Failure } from "../ui/feedback.tsx";
import { useAction } from "../ui/hooks.ts";

type Question =
  | { kind: "none" }
  | { kind: "reset" }
  | { kind: "reset-all" }
  | { kind: "restore"; file: File };

export function StateActions({ twin, twins }: { twin: string; twins: readonly string[] }) {
  const { sandbox } = place.value;
  const [question, setQuestion] = useState<Question>({ kind: "none" });
  const files = useRef<HTMLInputElement>(null);
  const snapshot = useAction<ApiError>(isApiError);
  const close = () => setQuestion({ kind: "none" });
  return (
    <>
      <div class="toolbar">
        <button
          type="button"
          class="button small"
          disabled={snapshot.isRunning}
          onClick={() => void snapshot.run(() => downloadSnapshots(sandbox, [twin]))}
        >
          Snapshot of {twin}
        </button>
        <button
          type="button"
          class="button small"
          disabled={snapshot.isRunning}
          onClick={() => void snapshot.run(() => downloadSnapshots(sandbox, twins))}
        >
          Snapshots of all
        </button>
        <button type="button" class="button small" onClick={() => files.current?.click()}>
          Put a snapshot back
        </button>
        <input
          ref={files}
          class="visually-hidden"
          type="file"
          accept="application/json,.json"
          tabIndex={-1}
          aria-label={`A file for ${twin}`}
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            if (file) setQuestion({ kind: "restore", file });
            currentTarget.value = "";
          }}
        />
        <button type="button" class="button danger small" onClick={() => setQuestion({ kind: "reset" })}>
          Reset {twin}
        </button>
        <button type="button" class="button danger small" onClick={() => setQuestion({ kind: "reset-all" })}>
          Reset all
        </button>
      </div>
      {snapshot.failure ? <Failure error={snapshot.failure} /> : null}
      <Asking {...{ question, sandbox, twin, twins }} onClose={close} />
    </>
  );
}

interface AskingProps {
  question: Question;
  sandbox: string;
  twin: string;
  twins: readonly string[];
  onClose(): void;
}

function Asking({ question, sandbox, twin, twins, onClose }: AskingProps) {
  switch (question.kind) {
    case "none":
      return null;
    case "reset":
      return (
        <Confirm
          title={`Reset ${twin}?`}
          action={`Reset ${twin}`}
          run={() => send<void>("POST", controlPath(sandbox, twin, "reset"))}
          onClose={onClose}
        >
          <p>
            Its tables go back to the state at the start; its files, its faults and the calls that run end.
          </p>
        </Confirm>
      );
    case "reset-all":
      return (
        <Confirm
          title={`Reset all twins of ${sandbox}?`}
          action="Reset all"
          run={() => send<void>("POST", `/sandboxes/${encodeURIComponent(sandbox)}/reset`)}
          onClose={onClose}
        >
          <p>{twins.join(", ")} go back to the state at the start, or none does. Calls that run end.</p>
        </Confirm>
      );
    case "restore":
      return (
        <Confirm
          title={`Put a snapshot back into ${twin}?`}
          action="Put it back"
          run={() => restore(sandbox, twin, question.file)}
          onClose={onClose}
        >
          <p>
            What {twin} holds now is replaced by {question.file.name}. A file that does not fit changes
            nothing.
          </p>
        </Confirm>
      );
  }
}

/** The text goes as it is: reading it would lose digits of long numbers. @throws ApiError */
async function restore(sandbox: string, twin: string, file: File): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(controlPath(sandbox, twin, "reset"), { method: "POST", headers, body: file });
  if (!response.ok) throw refusalOf(response.status, await response.text());
}

/** Saves a file for each twin. @throws ApiError */
async function downloadSnapshots(sandbox: string, twins: readonly string[]): Promise<void> {
  for (const twin of twins) {
    const response = await fetch(controlPath(sandbox, twin, "snapshot"), { method: "POST" });
    if (!response.ok) throw refusalOf(response.status, await response.text());
    const url = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = `${sandbox}-${twin}.snapshot.json`;
    link.click();
    URL.revokeObjectURL(url);
  }
}
