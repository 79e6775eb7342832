/** Who listens: with the built-in recogniser free speech is heard as nothing, and the page says so before it happens. */
import type { Provider } from "./speech.ts";

export function Recogniser({ recognition }: { recognition: Provider }) {
  const { provider, model, samples } = recognition;
  if (!knowsSamplesOnly(recognition)) {
    return (
      <p class="quiet">Listens: {[provider, model].filter(Boolean).join(", ")}. It hears free speech.</p>
    );
  }
  return (
    <div class="notice">
      <p>
        The built-in recogniser listens. It knows {samples ?? 0} recorded sentences and no other speech: say a
        sample, or keep your own sentence as one after it was heard as nothing. Spoken anew, a sentence may
        differ too much from its recording.
      </p>
      <p class="quiet">
        For free speech, give the twin a transcription server, which may run on this machine:{" "}
        <code>recognition</code> in the environment file, explained in <code>twins/vapi/README.md</code>.
      </p>
    </div>
  );
}

/** Whether nothing but recorded sentences can be understood. */
export function knowsSamplesOnly({ provider }: Provider): boolean {
  return provider === "samples" || provider === "none";
}
