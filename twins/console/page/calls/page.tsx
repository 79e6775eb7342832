/** Calls: the list, or the one that the address names. */
import { useSandbox } from "../api/sandboxes.ts";
import { place } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { Heading } from "../ui/layout.tsx";
import { Call } from "./call.tsx";
import { CallList } from "./list.tsx";

export function Calls() {
  const [id] = place.value.rest;
  const { data, error, isLoading, reload } = useSandbox();
  if (data?.twins.some(({ name }) => name === "vapi"))
    return id === undefined ? <CallList /> : <Call key={id} id={id} />;
  return (
    <>
      <Heading title="Calls" />
      {error ? <Failure error={error} retry={reload} /> : null}
      {isLoading ? <Loading /> : null}
      {data ? (
        <Empty>
          This sandbox has no voice runtime, so it has no calls. Name the service <code>vapi</code> in its
          environment file, and start the twins again.
        </Empty>
      ) : null}
    </>
  );
}
