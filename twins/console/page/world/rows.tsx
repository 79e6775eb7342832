/** The rows of one table, filtered and paged. */
import { controlPath, read } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import { hrefOf, place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { Field } from "../ui/field.tsx";
import { formatValue } from "../ui/format.ts";
import { useThrottled } from "../ui/hooks.ts";
import { Pager } from "../ui/pager.tsx";
import { TableFrame } from "../ui/table.tsx";
import { RowForm } from "./row-form.tsx";
import { keyColumnsOf, keyText, type Row, type RowPage, type Table } from "./types.ts";

const PAGE_ROWS = 50;
const REFRESH_MS = 500;
/** In the address, before a column's name. */
const WHERE = "where.";
/** In the address, in place of a row's key. */
const NEW_ROW = "new";

export function Rows({ twin, table }: { twin: string; table: Table }) {
  const { sandbox, query } = place.value;
  const offset = Number(query.get("offset") ?? 0) || 0;
  const where = filtersOf(query);
  const path = controlPath(sandbox, twin, "data", {
    ...where,
    entity_type: table.name,
    limit: PAGE_ROWS,
    offset,
  });
  const page = useResource(path, (signal) => read<RowPage>(path, signal));
  const refresh = useThrottled(page.reload, REFRESH_MS);
  useLive({
    change: (change) => {
      if (change.twin === twin && (change.table === table.name || change.change === "reset")) refresh();
    },
    gap: refresh,
  });
  const close = () => setQuery({ row: undefined });
  return (
    <>
      <div class="heading">
        <h2>{table.name}</h2>
        <div class="end">
          <a class="button small" href={hrefOf({ query: { ...Object.fromEntries(query), row: NEW_ROW } })}>
            Add a row
          </a>
        </div>
      </div>
      <p class="quiet">{table.description}</p>
      <Filters table={table} where={where} />
      {page.error ? <Failure error={page.error} retry={page.reload} /> : null}
      {page.isLoading ? <Loading /> : null}
      {page.data?.total === 0 ? (
        <Empty>{Object.keys(where).length > 0 ? "No row matches the filter." : "The table is empty."}</Empty>
      ) : null}
      {page.data && page.data.rows.length > 0 ? <RowTable table={table} rows={page.data.rows} /> : null}
      {page.data ? (
        <Pager
          total={page.data.total}
          limit={PAGE_ROWS}
          offset={offset}
          onMove={(to) => setQuery({ offset: to === 0 ? undefined : String(to) })}
        />
      ) : null}
      <ChosenRow
        {...{ twin, table }}
        rows={page.data?.rows}
        onDone={() => {
          close();
          page.reload();
        }}
        onClose={close}
      />
    </>
  );
}

function filtersOf(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    [...query].flatMap(([name, value]) =>
      name.startsWith(WHERE) ? [[name.slice(WHERE.length), value]] : [],
    ),
  );
}

interface ChosenRowProps {
  twin: string;
  table: Table;
  rows: readonly Row[] | undefined;
  onDone(): void;
  onClose(): void;
}

/** The row that the address names, wherever in the table it is. */
function ChosenRow({ twin, table, rows, onDone, onClose }: ChosenRowProps) {
  const { sandbox, query } = place.value;
  const wanted = query.get("row");
  const listed = rows?.find((row) => keyText(table, row) === wanted);
  const where = wanted === null || wanted === NEW_ROW || listed || !rows ? undefined : whereOf(table, wanted);
  const path = where && controlPath(sandbox, twin, "data", { ...where, entity_type: table.name, limit: 1 });
  const found = useResource(path, (signal) => read<RowPage>(path ?? "", signal));
  if (wanted === null) return null;
  if (wanted === NEW_ROW) return <RowForm {...{ twin, table, onDone, onClose }} />;
  const row = listed ?? found.data?.rows[0];
  if (row) return <RowForm {...{ twin, table, row, onDone, onClose }} />;
  if (found.data) return <div class="notice warn">The row {wanted} is not there any more.</div>;
  return null;
}

function whereOf(table: Table, key: string): Record<string, string> | undefined {
  try {
    const values: unknown = JSON.parse(key);
    if (!Array.isArray(values)) return undefined;
    return Object.fromEntries(keyColumnsOf(table).map((name, index) => [name, String(values[index])]));
  } catch {
    return undefined;
  }
}

function RowTable({ table, rows }: { table: Table; rows: readonly Row[] }) {
  const { query } = place.value;
  const keys = keyColumnsOf(table);
  const names = [...keys, ...table.columns.map(({ name }) => name).filter((name) => !keys.includes(name))];
  const linked = keys[0];
  return (
    <TableFrame label={`Rows of ${table.name}`} columns={names}>
      {rows.map((row, index) => (
        <tr key={linked === undefined ? index : keyText(table, row)}>
          {names.map((name) => (
            <td key={name} class="cut" title={formatValue(row[name])}>
              {name === linked ? (
                <a href={hrefOf({ query: { ...Object.fromEntries(query), row: keyText(table, row) } })}>
                  {formatValue(row[name])}
                </a>
              ) : (
                formatValue(row[name])
              )}
            </td>
          ))}
        </tr>
      ))}
    </TableFrame>
  );
}

function Filters({ table, where }: { table: Table; where: Record<string, string> }) {
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    const given = new FormData(form);
    setQuery({ [`${WHERE}${given.get("column")}`]: String(given.get("value")), offset: undefined });
    form.reset();
  };
  return (
    <search>
      <form class="toolbar" onSubmit={add}>
        <Field label="Rows whose">
          {(control) => (
            <select {...control} name="column">
              {table.columns.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="is">
          {(control) => <input {...control} name="value" required placeholder="a value, or null" />}
        </Field>
        <button type="submit" class="button">
          Filter
        </button>
        {Object.entries(where).map(([name, value]) => (
          <button
            key={name}
            type="button"
            class="button small"
            onClick={() => setQuery({ [`${WHERE}${name}`]: undefined, offset: undefined })}
          >
            {name} = {value} ✕<span class="visually-hidden"> remove this filter</span>
          </button>
        ))}
      </form>
    </search>
  );
}
