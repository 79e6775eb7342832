/** A field of a form: its label above it, and what is wrong with it below. */
import type { JSX } from "preact";
import { useId } from "preact/hooks";

/** What the control within a field must carry. */
interface ControlProps {
  id: string;
  "aria-invalid": "true" | undefined;
  "aria-describedby": string | undefined;
}

export interface FieldProps {
  label: string;
  /** What is wrong with the value. */
  problem?: string | undefined;
  children(control: ControlProps): JSX.Element;
}

export function Field({ label, problem, children }: FieldProps) {
  const id = useId();
  const isWrong = problem !== undefined;
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children({
        id,
        "aria-invalid": isWrong ? "true" : undefined,
        "aria-describedby": isWrong ? `${id}-problem` : undefined,
      })}
      {isWrong ? (
        <span id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </span>
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
