/** Arming a fault: a template of the twin's own list, changed as needed. */
import { useState } from "preact/hooks";
import { ApiError, controlPath, isApiError, read, send } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { go, place } from "../place.ts";
import { Failure } from "../ui/feedback.tsx";
import { ChoiceField, Field } from "../ui/field.tsx";
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
        <ChoiceField
          label="Twin"
          value={twin}
          options={twins}
          onChoose={(chosen) => go({ rest: [chosen] }, "replace")}
        />
        <ChoiceField
          label="Template"
          value={template?.name ?? ""}
          options={(templates.data ?? []).map((each) => ({ value: each.name, text: each.description }))}
          onChoose={(chosen) => {
            setName(chosen);
            setEdited(undefined);
          }}
        />
      </div>
      {templates.error ? <Failure error={templates.error} retry={templates.reload} /> : null}
      <Field label="The fault, as JSON">
        {(control) => (
          <textarea
            {...control}
            aria-invalid={arming.failure ? "true" : undefined}
            rows={Math.min(14, body.split("\n").length + 1)}
            spellcheck={false}
            value={body}
            onInput={({ currentTarget }) => setEdited(currentTarget.value)}
          />
        )}
      </Field>
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
