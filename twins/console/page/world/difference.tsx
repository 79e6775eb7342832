/** What has changed since the start, or since the last reset. */
import { controlPath, read } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import { place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { ChoiceField } from "../ui/field.tsx";
import { formatValue } from "../ui/format.ts";
import { useThrottled } from "../ui/hooks.ts";
import { Pager } from "../ui/pager.tsx";
import { TableFrame } from "../ui/table.tsx";
import type { Row, Table } from "./types.ts";

interface ChangedRow {
  table: string;
  difference: "added" | "changed" | "removed";
  /** Its key column, or columns. */
  key: Row;
  /** As it is now, or as it was when it is gone. */
  row: Row;
  /** Of a changed row, the columns that differ. */
  columns?: Record<string, { before: unknown; after: unknown }>;
}

interface Difference {
  tables: Record<string, { added: number; changed: number; removed: number }>;
  /** Tables with too many written rows to compare; `tables` has how often their rows were written. */
  uncompared: string[];
  rows: ChangedRow[];
  total: number;
}

const PAGE_ROWS = 50;
const REFRESH_MS = 1_000;
const TAGS = { added: "tag good", changed: "tag warn", removed: "tag bad" } as const;

export function DifferenceView({ twin, tables }: { twin: string; tables: readonly Table[] }) {
  const { sandbox, query } = place.value;
  const offset = Number(query.get("offset") ?? 0) || 0;
  const table = query.get("table") ?? undefined;
  const path = controlPath(sandbox, twin, "difference", { table, limit: PAGE_ROWS, offset });
  const difference = useResource(path, (signal) => read<Difference>(path, signal));
  const refresh = useThrottled(difference.reload, REFRESH_MS);
  useLive({
    change: (change) => {
      if (change.twin === twin) refresh();
    },
    gap: refresh,
  });
  const { data } = difference;
  return (
    <>
      <div class="heading">
        <h2>Difference since the start</h2>
        <div class="end">
          <ChoiceField
            label="Table"
            value={table ?? ""}
            options={[{ value: "", text: "all" }, ...tables.map(({ name }) => name)]}
            onChoose={(chosen) => setQuery({ table: chosen, offset: undefined })}
          />
        </div>
      </div>
      {difference.error ? <Failure error={difference.error} retry={difference.reload} /> : null}
      {difference.isLoading ? <Loading /> : null}
      {data && data.uncompared.length > 0 ? (
        <p class="notice">
          Too many rows were written to compare one by one, in {data.uncompared.join(", ")}. The counts below
          are of writes.
        </p>
      ) : null}
      {data ? <Counts tables={data.tables} /> : null}
      {data?.total === 0 && data.uncompared.length === 0 ? (
        <Empty>Nothing has changed since the start.</Empty>
      ) : null}
      {data && data.total > 0 ? (
        <>
          <ChangedRows rows={data.rows} />
          <Pager
            total={data.total}
            limit={PAGE_ROWS}
            offset={offset}
            onMove={(to) => setQuery({ offset: to === 0 ? undefined : String(to) })}
          />
        </>
      ) : null}
    </>
  );
}

function Counts({ tables }: Pick<Difference, "tables">) {
  const written = Object.entries(tables).filter(
    ([, { added, changed, removed }]) => added + changed + removed > 0,
  );
  if (written.length === 0) return null;
  return (
    <p class="quiet">
      {written
        .map(
          ([name, { added, changed, removed }]) =>
            `${name}: ${added} added, ${changed} changed, ${removed} removed`,
        )
        .join("; ")}
    </p>
  );
}

function ChangedRows({ rows }: { rows: readonly ChangedRow[] }) {
  return (
    <TableFrame label="Changed rows" columns={["Table", "Row", "Change", "Columns"]}>
      {rows.map((row) => (
        <tr key={JSON.stringify([row.table, row.key])}>
          <td>{row.table}</td>
          <td>{Object.values(row.key).map(formatValue).join(", ")}</td>
          <td>
            <span class={TAGS[row.difference]}>{row.difference}</span>
          </td>
          <td>
            <ChangedColumns of={row} />
          </td>
        </tr>
      ))}
    </TableFrame>
  );
}

function ChangedColumns({ of: { difference, row, columns } }: { of: ChangedRow }) {
  const shown = columns
    ? Object.entries(columns)
    : Object.entries(row).map(([name, value]) => [name, { before: value, after: value }] as const);
  return (
    <dl class="facts">
      {shown.map(([name, { before, after }]) => (
        <>
          <dt key={`${name} name`}>{name}</dt>
          <dd key={`${name} value`}>
            {difference === "added" ? null : <del>{formatValue(before)}</del>}
            {difference === "changed" ? " → " : null}
            {difference === "removed" ? null : <ins>{formatValue(after)}</ins>}
          </dd>
        </>
      ))}
    </dl>
  );
}
