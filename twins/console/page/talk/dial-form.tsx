/** Whom to call, and how. */
import { Field } from "../ui/field.tsx";
import { useKeys } from "../ui/keys.tsx";
import type { Agent } from "./speech.ts";

export interface DialFormProps {
  agents: readonly Agent[];
  /** Address of the chosen one. */
  agent: string;
  onAgent(url: string): void;
  token: string;
  onToken(token: string): void;
  /** The last call was refused: perhaps a token is missing. */
  wasRefused: boolean;
  isDialling: boolean;
  onDial(microphone: "open" | "none"): void;
}

export function DialForm(props: DialFormProps) {
  const { agents, agent, onAgent, token, onToken, wasRefused, isDialling, onDial } = props;
  const needsToken = wasRefused || token !== "";
  useKeys([
    { keys: "c", what: "call with the microphone", run: () => onDial("open") },
    { keys: "x", what: "call without a microphone", run: () => onDial("none") },
  ]);
  return (
    <form
      class="dial"
      onSubmit={(event) => {
        event.preventDefault();
        onDial("open");
      }}
    >
      <div class="toolbar">
        <Field label="Agent" class="agent">
          {(control) => (
            <select
              {...control}
              value={agent}
              disabled={agents.length === 1}
              onChange={({ currentTarget }) => onAgent(currentTarget.value)}
            >
              {agents.map(({ url, source, language }) => (
                <option key={url} value={url}>
                  {[url, language, source === "running" ? "runs here" : "of the environment file"]
                    .filter(Boolean)
                    .join(" · ")}
                </option>
              ))}
            </select>
          )}
        </Field>
        {needsToken ? (
          <Field
            label="VOICE_TOKEN of the agent"
            hint="The token is kept in this page alone, until it is closed."
          >
            {(control) => (
              <input
                {...control}
                type="password"
                autocomplete="off"
                value={token}
                onInput={({ currentTarget }) => onToken(currentTarget.value)}
              />
            )}
          </Field>
        ) : null}
        <button type="submit" class="button primary" disabled={isDialling}>
          Call with the microphone <kbd>c</kbd>
        </button>
        <button type="button" class="button" disabled={isDialling} onClick={() => onDial("none")}>
          Call without one <kbd>x</kbd>
        </button>
      </div>
      {needsToken ? null : (
        <p class="quiet">
          The browser asks for the microphone after the click. Without one, samples can be said. Leaving this
          page hangs up.
        </p>
      )}
    </form>
  );
}
