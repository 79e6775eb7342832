/** World: what the twins of the sandbox hold, to look at and to change. */
import "./world.css";
import { ApiError, controlPath, read } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import { useSandbox } from "../api/sandboxes.ts";
import { hrefOf, place } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { useThrottled } from "../ui/hooks.ts";
import { Heading } from "../ui/layout.tsx";
import { DifferenceView } from "./difference.tsx";
import { Rows } from "./rows.tsx";
import { StateActions } from "./state.tsx";
import { dataPath, type Table } from "./types.ts";

const REFRESH_MS = 500;
/** In the address, in place of a table. */
const DIFFERENCE = "difference";

export function World() {
  const { data: sandbox, error, reload } = useSandbox();
  if (!sandbox) {
    return (
      <>
        <Heading title="World" />
        {error ? <Failure error={error} retry={reload} /> : <Loading />}
      </>
    );
  }
  const twins = sandbox.twins.map(({ name }) => name);
  const [named] = place.value.rest;
  const twin = twins.find((name) => name === named) ?? twins[0];
  return (
    <>
      <Heading title="World" />
      <nav class="tabs" aria-label="Twins">
        {twins.map((name) => (
          <a key={name} href={hrefOf({ rest: [name] })} aria-current={name === twin ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {twin === undefined ? (
        <Empty>This sandbox has no twins.</Empty>
      ) : (
        <TwinWorld key={twin} {...{ twin, twins }} />
      )}
    </>
  );
}

function TwinWorld({ twin, twins }: { twin: string; twins: readonly string[] }) {
  const { sandbox, rest } = place.value;
  const world = useResource(`${sandbox} ${twin}`, async (signal) => {
    const [{ tables }, { counts }] = await Promise.all([
      read<{ tables: Table[] }>(controlPath(sandbox, twin, "schema"), signal),
      read<{ counts: Record<string, number> }>(dataPath(sandbox, twin), signal),
    ]);
    return { tables, counts };
  });
  const refresh = useThrottled(world.reload, REFRESH_MS);
  useLive({
    change: (change) => {
      if (change.twin === twin) refresh();
    },
    gap: refresh,
  });
  if (!world.data) {
    return world.error instanceof ApiError ? (
      <Failure error={world.error} retry={world.reload} />
    ) : (
      <Loading />
    );
  }
  const { tables, counts } = world.data;
  const shown = rest[1] ?? tables[0]?.name;
  const table = tables.find(({ name }) => name === shown);
  return (
    <>
      <StateActions {...{ twin, twins }} />
      <div class="world">
        <nav class="tables" aria-label={`Tables of ${twin}`}>
          {tables.map(({ name }) => (
            <a
              key={name}
              href={hrefOf({ rest: [twin, name] })}
              aria-current={name === shown ? "page" : undefined}
            >
              <span>{name}</span>
              <span class="quiet">{(counts[name] ?? 0).toLocaleString()}</span>
            </a>
          ))}
          <a
            href={hrefOf({ rest: [twin, DIFFERENCE] })}
            aria-current={shown === DIFFERENCE ? "page" : undefined}
          >
            Difference since the start
          </a>
        </nav>
        <div class="content">
          {shown === DIFFERENCE && !table ? <DifferenceView twin={twin} tables={tables} /> : null}
          {table ? <Rows key={`${twin} ${table.name}`} twin={twin} table={table} /> : null}
          {!table && shown !== DIFFERENCE ? <Empty>There is no table {shown}.</Empty> : null}
        </div>
      </div>
    </>
  );
}
