/** Faults and clock: what goes wrong on purpose in this sandbox, and what time it is there. */
import { useSandbox } from "../api/sandboxes.ts";
import { place } from "../place.ts";
import { Failure, Loading } from "../ui/feedback.tsx";
import { Heading } from "../ui/layout.tsx";
import { Faults } from "./armed.tsx";
import { ClockCard } from "./clock.tsx";

export function FaultsAndClock() {
  const { data: sandbox, error, reload } = useSandbox();
  const [named] = place.value.rest;
  if (!sandbox) {
    return (
      <>
        <Heading title="Faults and clock" />
        {error ? <Failure error={error} retry={reload} /> : <Loading />}
      </>
    );
  }
  const twins = sandbox.twins.map(({ name }) => name);
  const chosen = twins.find((name) => name === named) ?? twins[0] ?? "";
  return (
    <>
      <Heading title="Faults and clock" />
      <Faults twins={twins} chosen={chosen} />
      <ClockCard />
    </>
  );
}
