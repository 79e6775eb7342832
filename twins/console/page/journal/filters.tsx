/** The journal's filters. They are in the page's address, so a filtered journal can be sent on. */
import { useSandbox } from "../api/sandboxes.ts";
import { setQuery } from "../place.ts";
import { ChoiceField, Field } from "../ui/field.tsx";

/** Names of the filters in the address. They are the route's own. */
const FILTERS = ["twin", "tier", "operation", "method", "status", "text", "fault", "since", "until"] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

export function readFilters(query: URLSearchParams): Filters {
  return Object.fromEntries(
    FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])),
  );
}

export function FilterBar({ filters }: { filters: Filters }) {
  const { data } = useSandbox();
  const twins = data?.twins.map(({ name }) => name) ?? [];
  return (
    <search>
      <form class="toolbar" onSubmit={(event) => event.preventDefault()}>
        <Choice name="twin" label="Twin" value={filters.twin} all="all" options={twins} />
        <TierChoice tier={tierOf(filters)} />
        <Text name="operation" label="Operation" value={filters.operation} hint="call.create" />
        <Choice
          name="status"
          label="Status"
          value={filters.status}
          all="any"
          options={["2xx", "3xx", "4xx", "5xx", ...exactStatus(filters.status)]}
        />
        <Choice
          name="fault"
          label="Faults"
          value={filters.fault}
          all="hit or not"
          options={[{ value: "any", text: "hit by a fault" }]}
        />
        <Text name="text" label="Text in path or body" value={filters.text} hint="INC-1041" />
        {Object.keys(filters).length > 0 ? (
          <button
            type="button"
            class="button small"
            onClick={() =>
              setQuery(Object.fromEntries([...FILTERS, "offset"].map((name) => [name, undefined])))
            }
          >
            Remove filters
          </button>
        ) : null}
      </form>
    </search>
  );
}

/** Whose requests are shown: by default those of the code under test. */
export type ShownTier = "vendor" | "control" | "all";

const TIERS: readonly { value: ShownTier; text: string }[] = [
  { value: "vendor", text: "the code under test" },
  { value: "control", text: "testers" },
  { value: "all", text: "both" },
];

export function tierOf({ tier }: Filters): ShownTier {
  return TIERS.find(({ value }) => value === tier)?.value ?? "vendor";
}

function TierChoice({ tier }: { tier: ShownTier }) {
  return (
    <ChoiceField
      label="Requests of"
      value={tier}
      options={TIERS}
      onChoose={(value) => setQuery({ tier: value === "vendor" ? undefined : value, offset: undefined })}
    />
  );
}

/** A status that came by the address. */
function exactStatus(status: string | undefined): string[] {
  return status === undefined || status.endsWith("xx") ? [] : [status];
}

interface FilterProps {
  name: keyof Filters;
  label: string;
  value: string | undefined;
}

interface ChoiceProps extends FilterProps {
  /** What is shown when nothing is chosen. */
  all: string;
  options: readonly (string | { value: string; text: string })[];
}

function Choice({ name, label, value = "", all, options }: ChoiceProps) {
  return (
    <ChoiceField
      label={label}
      value={value}
      options={[{ value: "", text: all }, ...options]}
      onChoose={(chosen) => setQuery({ [name]: chosen, offset: undefined })}
    />
  );
}

function Text({ name, label, value = "", hint }: FilterProps & { hint: string }) {
  return (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type="search"
          value={value}
          placeholder={hint}
          onChange={({ currentTarget }) =>
            setQuery({ [name]: currentTarget.value.trim(), offset: undefined })
          }
        />
      )}
    </Field>
  );
}
