/** What is armed, and how often it hit. */
import { type ApiError, controlPath, isApiError, read, send } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { useAction, useThrottled } from "../ui/hooks.ts";
import { TableFrame } from "../ui/table.tsx";
import { ArmForm } from "./arm-form.tsx";
import { type ArmedFault, describeDetails } from "./types.ts";

interface TwinFault extends ArmedFault {
  twin: string;
}

const REFRESH_MS = 300;

export function Faults({ twins, chosen }: { twins: readonly string[]; chosen: string }) {
  const { sandbox } = place.value;
  const faults = useResource(`${sandbox} ${twins.join(" ")}`, (signal) => readFaults(sandbox, twins, signal));
  const refresh = useThrottled(faults.reload, REFRESH_MS);
  useLive({
    request: ({ fault, operation }) => {
      if (
        fault !== null ||
        operation === "fault.arm" ||
        operation === "fault.remove" ||
        operation === "fault.clear"
      )
        refresh();
    },
    change: ({ change }) => {
      if (change === "reset") refresh();
    },
    gap: refresh,
  });
  return (
    <>
      <ArmForm key={chosen} twins={twins} twin={chosen} onArmed={faults.reload} />
      {faults.error ? <Failure error={faults.error} retry={faults.reload} /> : null}
      {faults.isLoading ? <Loading /> : null}
      {faults.data ? <NamedFault faults={faults.data} twin={chosen} /> : null}
      {faults.data?.length === 0 ? <Empty>No fault is armed in this sandbox.</Empty> : null}
      {faults.data && faults.data.length > 0 ? (
        <FaultTable faults={faults.data} onChanged={faults.reload} />
      ) : null}
    </>
  );
}

/** A link from a request that a fault hit names it; it may be gone since. */
function NamedFault({ faults, twin }: { faults: readonly TwinFault[]; twin: string }) {
  const id = place.value.query.get("fault");
  if (id === null || faults.some((fault) => fault.twin === twin && fault.id === id)) return null;
  return (
    <div class="notice" role="status">
      {id} of {twin} is not armed any more. A scenario removes its faults when its call is over; its file says
      which they were, under <code>faults</code>.{" "}
      <a href={hrefOf({ page: "journal", query: { twin, fault: id } })}>What it hit</a>
    </div>
  );
}

async function readFaults(
  sandbox: string,
  twins: readonly string[],
  signal: AbortSignal,
): Promise<TwinFault[]> {
  const lists = await Promise.all(
    twins.map(async (twin) => {
      const answer = await read<{ faults: ArmedFault[] }>(controlPath(sandbox, twin, "faults"), signal);
      return answer.faults.map((fault) => ({ ...fault, twin }));
    }),
  );
  return lists.flat();
}

function FaultTable({ faults, onChanged }: { faults: readonly TwinFault[]; onChanged(): void }) {
  const removal = useAction<ApiError>(isApiError);
  const { sandbox } = place.value;
  const remove = async ({ twin, id }: TwinFault) => {
    await removal.run(() => send("DELETE", controlPath(sandbox, twin, `faults/${encodeURIComponent(id)}`)));
    onChanged();
  };
  return (
    <>
      {removal.failure ? <Failure error={removal.failure} /> : null}
      <TableFrame
        label="Armed faults"
        columns={[
          "Twin",
          "Fault",
          "Effect",
          "Operation",
          "Details",
          "State",
          { title: "Seen", kind: "number" },
          { title: "Hit", kind: "number" },
          { title: "Left", kind: "number" },
          { title: "Remove", kind: "unseen" },
        ]}
      >
        {faults.map((fault) => (
          <tr key={`${fault.twin} ${fault.id}`}>
            <td>{fault.twin}</td>
            <td>{fault.id}</td>
            <td>{fault.effect}</td>
            <td>{fault.operation ?? "all"}</td>
            <td class="quiet">{describeDetails(fault)}</td>
            <td>
              <span class={fault.state === "armed" ? "tag warn" : "tag"}>{fault.state}</span>
            </td>
            <td class="number">{fault.seen}</td>
            <td class="number">
              {fault.hits === 0 ? (
                0
              ) : (
                <a href={hrefOf({ page: "journal", query: { twin: fault.twin, fault: fault.id } })}>
                  {fault.hits}
                </a>
              )}
            </td>
            <td class="number">{fault.remaining ?? "no end"}</td>
            <td>
              <button type="button" class="button small" onClick={() => void remove(fault)}>
                Remove <span class="visually-hidden">{`${fault.id} of ${fault.twin}`}</span>
              </button>
            </td>
          </tr>
        ))}
      </TableFrame>
    </>
  );
}
