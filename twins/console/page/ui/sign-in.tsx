/** How to get in, for a browser without a session. */
import { useEffect, useState } from "preact/hooks";
import { signIn } from "../api/session.ts";
import { Field } from "./field.tsx";

export function SignIn() {
  const [problem, setProblem] = useState<string>();
  const isUsed = useUsedCode();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    const key = form instanceof HTMLFormElement ? new FormData(form).get("key") : null;
    setProblem(await signIn(String(key ?? "")));
  };
  return (
    <main class="main sign-in">
      <h1>offhook console</h1>
      {isUsed ? (
        <div class="notice warn" role="status">
          This address has let a browser in already, or is older than 12 hours. Each that is printed works
          once: <code>npm run dial</code> prints another with each call, and a restart of the twins prints
          one.
        </div>
      ) : null}
      <p>
        Open the address that <code>npm run dev</code> or <code>npm run dial</code> printed: it lets this
        browser in, once. Or give the key of the control plane, which <code>npm run dev</code> and{" "}
        <code>npm run twins</code> print, too.
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

/** Whether the address has a code that let nobody in. It is taken out of the address: nobody can use it. */
function useUsedCode(): boolean {
  const [isUsed] = useState(() => new URL(window.location.href).searchParams.has("code"));
  useEffect(() => {
    const address = new URL(window.location.href);
    address.searchParams.delete("code");
    history.replaceState(null, "", address);
  }, []);
  return isUsed;
}
