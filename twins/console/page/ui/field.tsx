/** A field of a form: its label above it; below, what is wrong with it, and a hint. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

/** What the control within a field must carry. */
interface ControlProps {
  id: string;
  "aria-invalid": "true" | undefined;
  "aria-describedby": string | undefined;
}

export interface FieldProps {
  label: ComponentChildren;
  /** What is wrong with the value. */
  problem?: string | undefined;
  /** What a value is like. */
  hint?: string | undefined;
  /** For the look. */
  class?: string;
  children(control: ControlProps): JSX.Element;
}

export function Field({ label, problem, hint, class: look = "", children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  const isWrong = problem !== undefined;
  return (
    <div class={`field ${look}`}>
      <label class="label" for={id}>
        {label}
      </label>
      {children({
        id,
        "aria-invalid": isWrong ? "true" : undefined,
        "aria-describedby": isWrong || hint ? note : undefined,
      })}
      {isWrong || hint ? (
        <div id={note}>
          {isWrong ? (
            <div class="problem" role="alert">
              {problem}
            </div>
          ) : null}
          {hint ? <div class="hint">{hint}</div> : null}
        </div>
      ) : null}
    </div>
  );
}

export interface ChoiceProps {
  label: string;
  value: string;
  /** Each with the text that is shown for it; a bare text stands for itself. */
  options: readonly (string | { value: string; text: string })[];
  onChoose(value: string): void;
}

/** A field with one of several values. */
export function ChoiceField({ label, value, options, onChoose }: ChoiceProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
          {options.map((option) => {
            const { value: each, text } =
              typeof option === "string" ? { value: option, text: option } : option;
            return (
              <option key={each} value={each}>
                {text}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}
