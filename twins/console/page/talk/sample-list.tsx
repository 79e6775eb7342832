/** Recordings that can be said instead of speaking. */
import { useId, useMemo } from "preact/hooks";
import { isApiError } from "../api/client.ts";
import type { Resource } from "../api/resource.ts";
import { place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { formatDuration } from "../ui/format.ts";
import { useAction } from "../ui/hooks.ts";
import type { PhoneCall } from "./phone-call.ts";
import { readSample, type Sample, type SampleFolder } from "./speech.ts";

/** More are found by their words. */
const MAX_SHOWN = 100;

const KINDS = {
  noise: "noise, which is heard as nothing",
  tones: "tones, which are heard as nothing",
  "wrong-rate": "at a wrong rate, which is heard as nothing",
} as const;

export interface SampleListProps {
  samples: Resource<SampleFolder>;
  /** Names of the samples that a rule of the script answers; `undefined`: a model answers, or it is not known. */
  answered: readonly string[] | undefined;
  /** The call that is up. */
  phone: PhoneCall | undefined;
}

export function SampleList({ samples, answered, phone }: SampleListProps) {
  const { sandbox, query } = place.value;
  const saying = useAction(isApiError);
  const titleId = useId();
  const words = query.get("sample") ?? "";
  const all = samples.data?.samples;
  const isAnswered = useMemo(() => {
    const names = new Set(answered);
    return ({ name }: Sample) => names.has(name);
  }, [answered]);
  const found = (all ?? [])
    .filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(words.toLowerCase()))
    .toSorted((a, b) => Number(isAnswered(b)) - Number(isAnswered(a)));
  const say = (name: string) =>
    saying.run(async () => {
      const audio = await readSample(sandbox, name);
      phone?.say(name, audio);
    });

  return (
    <section class="card" aria-labelledby={titleId}>
      <div class="heading">
        <h2 id={titleId}>Say a sample</h2>
        <div class="end">
          <input
            type="search"
            aria-label="Find a sample"
            placeholder="Find"
            value={words}
            onInput={({ currentTarget }) => setQuery({ sample: currentTarget.value })}
          />
        </div>
      </div>
      {phone ? null : (
        <p class="quiet">Call first; then a sample is said as if it came from the microphone.</p>
      )}
      {samples.error ? <Failure error={samples.error} retry={samples.reload} /> : null}
      {saying.failure ? <Failure error={saying.failure} /> : null}
      {samples.isLoading ? <Loading /> : null}
      {all?.length === 0 ? (
        <Empty>The twin has no folder of samples: name one in the environment file.</Empty>
      ) : null}
      {all && all.length > 0 && found.length === 0 ? <Empty>No sample has these words.</Empty> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and before a call nothing in it takes the focus. */}
      <ul class="samples" aria-label="Samples" tabIndex={0}>
        {found.slice(0, MAX_SHOWN).map((sample) => (
          <Line
            key={sample.name}
            sample={sample}
            isAnswered={isAnswered(sample)}
            phone={phone}
            onSay={(name) => void say(name)}
          />
        ))}
      </ul>
      {found.length > MAX_SHOWN ? (
        <p class="quiet">
          {MAX_SHOWN} of {found.length}: find others by their words.
        </p>
      ) : null}
    </section>
  );
}

interface LineProps {
  sample: Sample;
  isAnswered: boolean;
  phone: PhoneCall | undefined;
  onSay(name: string): void;
}

function Line({ sample: { name, kind, text, duration_ms }, isAnswered, phone, onSay }: LineProps) {
  return (
    <li>
      <span class="text">
        {text || "No speech"} {isAnswered ? <span class="tag good">answered by the script</span> : null}
        <span class="quiet">
          {[name, kind === "speech" ? "" : KINDS[kind], formatDuration(duration_ms)]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </span>
      <button
        type="button"
        class="button small"
        aria-label={`Say ${name}`}
        disabled={phone === undefined}
        onClick={() => onSay(name)}
      >
        {phone?.saying.value === name ? "Says it" : "Say"}
      </button>
    </li>
  );
}
