/** Who answers: a model answers anything, the built-in script only what its rules name. */
import { isApiError } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import type { Resource } from "../api/resource.ts";
import { place } from "../place.ts";
import { Failure } from "../ui/feedback.tsx";
import { ChoiceField, Field } from "../ui/field.tsx";
import { useAction, useThrottled } from "../ui/hooks.ts";
import { addScriptFile, EVERY_CALL, type Provider, type Script } from "./speech.ts";

export interface AnswererProps {
  brain: Provider;
  scripts: Resource<Script[]>;
  /** The script of the call that is up, or else of the next one. */
  script: string;
  /** The simulation of the call, whose own script is a copy. */
  simulation: string | undefined;
  /** Absent during a call. */
  onScript: ((script: string) => void) | undefined;
}

/** A live list of scripts is read again at most so often. */
const REFRESH_MS = 300;
/** So many patterns stand in the sentence itself. */
const MAX_QUOTED = 3;

export function Answerer({ brain, scripts, script, simulation, onScript }: AnswererProps) {
  const refresh = useThrottled(scripts.reload, REFRESH_MS);
  useLive({
    change: ({ twin, table }) => {
      if (twin === "vapi" && table === "scripts") refresh();
    },
    gap: refresh,
  });
  if (!isScripted(brain)) {
    return (
      <p class="quiet">
        Answers: {[brain.provider, brain.model].filter(Boolean).join(", ")}, a language model.
      </p>
    );
  }
  if (scripts.error) return <Failure error={scripts.error} retry={scripts.reload} />;
  if (!scripts.data) return null;
  const heard = scripts.data.find(({ simulation_id }) => simulation_id === script)?.heard;
  return (
    <div class="notice answerer">
      {heard === undefined ? <NoScript script={script} /> : <Rules heard={heard} />}
      {onScript ? (
        <ChooseScript
          scripts={scripts.data.filter(({ simulation_id }) => simulation_id !== simulation)}
          script={script}
          onScript={onScript}
          onAdded={scripts.reload}
        />
      ) : null}
    </div>
  );
}

/** Whether rules answer instead of a model. */
export function isScripted({ provider }: Provider): boolean {
  return provider === "script";
}

function NoScript({ script }: { script: string }) {
  return (
    <p>
      {script === EVERY_CALL
        ? "The built-in script answers, not a model, and it has no rules: give it those of a scenario file."
        : `The script ${script} is gone: choose another one.`}
    </p>
  );
}

function Rules({ heard }: { heard: readonly string[] }) {
  const patterns = [...new Set(heard)];
  return (
    <>
      <p>
        The built-in script answers, not a model: <strong>only what its rules name is answered</strong>.
        Anything else gets its answer for anything else, mostly that it did not catch that.
      </p>
      {patterns.length === 0 ? <p>Its rules name no words at all.</p> : null}
      {patterns.length > MAX_QUOTED ? (
        <details>
          <summary>What its rules name: {patterns.length} sentences</summary>
          <Patterns patterns={patterns} />
        </details>
      ) : (
        <Patterns patterns={patterns} />
      )}
    </>
  );
}

/** `*` stands for any words. */
function Patterns({ patterns }: { patterns: readonly string[] }) {
  return (
    <ul>
      {patterns.map((pattern) => (
        <li key={pattern}>{pattern.replaceAll("*", "…")}</li>
      ))}
    </ul>
  );
}

interface ChooseScriptProps {
  scripts: readonly Script[];
  script: string;
  onScript(script: string): void;
  onAdded(): void;
}

function ChooseScript({ scripts, script, onScript, onAdded }: ChooseScriptProps) {
  const { sandbox } = place.value;
  const adding = useAction(isApiError);
  const names = [...new Set([EVERY_CALL, script, ...scripts.map(({ simulation_id }) => simulation_id)])];
  const add = async (file: File) => {
    const name = file.name.replace(/\.ya?ml$/i, "");
    if (!(await adding.run(() => addScriptFile(sandbox, name, file)))) return;
    onAdded();
    onScript(name);
  };
  return (
    <>
      <div class="toolbar">
        <ChoiceField
          label="Script of the next call"
          value={script}
          options={names.map((name) => ({
            value: name,
            text: name === EVERY_CALL ? "that of every call" : name,
          }))}
          onChoose={onScript}
        />
        <Field label="Or the rules of a scenario file">
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".yaml,.yml"
              disabled={adding.isRunning}
              onChange={({ currentTarget }) => {
                const file = currentTarget.files?.[0];
                // The same file, edited, may be chosen again.
                currentTarget.value = "";
                if (file) void add(file);
              }}
            />
          )}
        </Field>
      </div>
      {adding.failure ? <Failure error={adding.failure} /> : null}
    </>
  );
}
