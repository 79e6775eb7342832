/** How to get in, for a browser without a session. */
import { useState } from "preact/hooks";
import { signIn } from "../api/session.ts";
import { Field } from "./field.tsx";

export function SignIn() {
  const [problem, setProblem] = useState<string>();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    const key = form instanceof HTMLFormElement ? new FormData(form).get("key") : null;
    setProblem(await signIn(String(key ?? "")));
  };
  return (
    <main class="main sign-in">
      <h1>offhook console</h1>
      <p>
        Open the address that <code>npm run dev</code> or <code>npm run dial</code> printed: it lets this
        browser in, once. Or give the key of the control plane, which they print too.
      </p>
      <form class="toolbar" onSubmit={(event) => void submit(event)}>
        <Field label="API key">
          {(control) => (
            <input {...control} name="key" type="password" autocomplete="current-password" required />
          )}
        </Field>
        <button type="submit" class="button primary">
          Sign in
        </button>
      </form>
      {problem === undefined ? null : (
        <div class="notice bad" role="alert">
          {problem}
        </div>
      )}
    </main>
  );
}
