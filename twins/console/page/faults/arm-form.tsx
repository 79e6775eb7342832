/** Arming a fault: a template of the twin's own list, changed as needed. */
import { useId, useState } from "preact/hooks";
import { ApiError, controlPath, isApiError, read, send } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { go, place } from "../place.ts";
import { Failure } from "../ui/feedback.tsx";
import { useAction } from "../ui/hooks.ts";
import type { FaultTemplate } from "./types.ts";

export function ArmForm(props: { twins: readonly string[]; twin: string; onArmed(): void }) {
  const { twins, twin, onArmed } = props;
  const { sandbox } = place.value;
  const templates = useResource(`${sandbox} ${twin}`, async (signal) => {
    const answer = await read<{ templates: FaultTemplate[] }>(
      controlPath(sandbox, twin, "faults/templates"),
      signal,
    );
    return answer.templates;
  });
  const [name, setName] = useState("");
  const [edited, setEdited] = useState<string>();
  const arming = useAction<ApiError>(isApiError);
  const [twinId, templateId, bodyId] = [useId(), useId(), useId()];
  const template = templates.data?.find((each) => each.name === name) ?? templates.data?.[0];
  const body = edited ?? JSON.stringify(template?.fault ?? {}, null, 2);

  const arm = async (event: SubmitEvent) => {
    event.preventDefault();
    const path = controlPath(sandbox, twin, "faults");
    if (await arming.run(() => send("POST", path, parseFault(body)))) onArmed();
  };

  return (
    <form class="card" onSubmit={(event) => void arm(event)}>
      <h2>Arm a fault</h2>
      <div class="toolbar">
        <div class="field">
          <label class="label" for={twinId}>
            Twin
          </label>
          <select
            id={twinId}
            value={twin}
            onChange={({ currentTarget }) => {
              setEdited(undefined);
              go({ rest: [currentTarget.value] }, "replace");
            }}
          >
            {twins.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
        <div class="field">
          <label class="label" for={templateId}>
            Template
          </label>
          <select
            id={templateId}
            value={template?.name ?? ""}
            onChange={({ currentTarget }) => {
              setName(currentTarget.value);
              setEdited(undefined);
            }}
          >
            {(templates.data ?? []).map((each) => (
              <option key={each.name} value={each.name}>
                {each.description}
              </option>
            ))}
          </select>
        </div>
      </div>
      {templates.error ? <Failure error={templates.error} retry={templates.reload} /> : null}
      <div class="field">
        <label class="label" for={bodyId}>
          The fault, as JSON
        </label>
        <textarea
          id={bodyId}
          rows={Math.min(14, body.split("\n").length + 1)}
          spellcheck={false}
          value={body}
          aria-invalid={arming.failure ? "true" : undefined}
          onInput={({ currentTarget }) => setEdited(currentTarget.value)}
        />
      </div>
      {arming.failure ? <Failure error={arming.failure} /> : null}
      <div class="toolbar">
        <button type="submit" class="button primary" disabled={arming.isRunning}>
          Arm
        </button>
      </div>
    </form>
  );
}

/** @throws ApiError when the text is not JSON */
function parseFault(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError(
      422,
      "malformed_json",
      `This is not JSON: ${error instanceof Error ? error.message : ""}`,
    );
  }
}
